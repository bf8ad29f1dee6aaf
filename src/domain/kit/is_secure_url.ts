import { isLoopback } from "./is_loopback.ts";

/** Whether nobody on the network can answer in place of this address: https, or this machine. */
export function isSecureUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

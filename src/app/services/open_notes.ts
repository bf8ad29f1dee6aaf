import { isLoopback } from "../../domain/kit/is_loopback.ts";

/** What whoever starts a server should know of the host that it listens on. */
export function openNotes(host: string): readonly string[] {
  if (isLoopback(host)) return [];
  return [`other machines reach ${host}: token and texts go there in the clear, put a proxy with TLS in front`];
}

import { isLoopback } from "../../domain/kit/addresses.ts";

/** Notes for the operator about the host that a server listens on. */
export function openNotes(host: string): readonly string[] {
  if (isLoopback(host)) return [];
  return [`other machines can reach ${host}, and tokens and texts are sent unencrypted: put a proxy with TLS in front`];
}

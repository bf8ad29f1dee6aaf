import { Departures } from "./departures.ts";
import type { HttpParts } from "./http_parts.ts";

/** Calls `gone` when a client disconnects before its answer; the returned function stops watching. */
export type Leaving = (gone: () => void) => () => void;

/** Detects disconnected clients, for a server at this port. */
export function clientLeaving(
  port: number,
  { connectionTable = null }: Pick<HttpParts, "connectionTable">,
): (request: Request, client: number) => Leaving {
  const departures = connectionTable && new Departures(port, connectionTable);
  // Reads the signal immediately: it does not report a client that left before.
  return ({ signal }, client) => (gone) => {
    signal.addEventListener("abort", gone);
    const forget = departures?.watch(client, gone);
    if (signal.aborted) gone();
    return () => {
      signal.removeEventListener("abort", gone);
      forget?.();
    };
  };
}

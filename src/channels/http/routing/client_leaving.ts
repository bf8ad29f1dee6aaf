import { Departures } from "./departures.ts";
import type { HttpParts } from "./http_parts.ts";

/** Calls back when a client has gone before its answer; the result ends the watch. */
export type Leaving = (gone: () => void) => () => void;

/** How it is noticed that a client leaves, for a server at this port. */
export function clientLeaving(
  port: number,
  { connectionTable = null }: Pick<HttpParts, "connectionTable">,
): (request: Request, client: number) => Leaving {
  const departures = connectionTable && new Departures(port, connectionTable);
  // The signal is asked for at once: of a client that left before nothing is said.
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

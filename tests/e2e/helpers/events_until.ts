import type { QueryEvent } from "../../../src/domain/query/query_schemas.ts";
import { type SseEvent, sseEvents } from "../../helpers/wires/sse_events.ts";

/** Returns the events up to the first that `last` accepts, or to the end of the stream. */
export async function eventsUntil(
  response: Response,
  last: (event: QueryEvent) => boolean = () => false,
): Promise<readonly SseEvent[]> {
  const found: SseEvent[] = [];
  for await (const one of sseEvents(response)) {
    found.push(one);
    if (last(one.data)) break;
  }
  return found;
}

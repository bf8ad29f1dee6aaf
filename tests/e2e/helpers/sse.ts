import type { QueryEvent } from "../../../src/domain/query/query_event.ts";

export interface SentEvent {
  readonly id: string;
  readonly event: QueryEvent;
}

/** Reads server-sent events up to the first that `last` accepts, or to the end of the stream. */
export async function sseEvents(
  response: Response,
  last: (event: QueryEvent) => boolean = () => false,
): Promise<readonly SentEvent[]> {
  const found: SentEvent[] = [];
  let rest = "";
  for await (const text of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n\n");
    rest = parts.pop() ?? "";
    for (const part of parts) {
      const id = /^id: (.*)$/m.exec(part)?.[1];
      const data = /^data: (.*)$/m.exec(part)?.[1];
      if (id === undefined || data === undefined) continue;
      const event: QueryEvent = JSON.parse(data);
      found.push({ id, event });
      if (last(event)) return found;
    }
  }
  return found;
}

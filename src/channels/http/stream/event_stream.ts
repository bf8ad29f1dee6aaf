import type { QueryEvent } from "../../../domain/query/query_event.ts";
import type { LiveRun } from "./run.ts";
import { textStream } from "./text_stream.ts";

export const EVENT_STREAM_TYPE = "text/event-stream; charset=utf-8";

/** A response of server-sent events. `texts` is read only as fast as the client reads. If the client leaves, `texts`
 * ends and `left` is called. */
export function eventStream(
  texts: AsyncGenerator<string>,
  { heartbeatMs, left, headers = {} }: {
    readonly heartbeatMs: number;
    readonly left?: () => void;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Response {
  const body = textStream(texts, { heartbeatMs, alive: ": alive\n\n", left });
  return new Response(body, {
    headers: {
      "content-type": EVENT_STREAM_TYPE,
      "cache-control": "no-store",
      "x-accel-buffering": "no", // keeps nginx from buffering events
      ...headers,
    },
  });
}

/** One event in the format of the stream. JSON has no raw line breaks, so nothing in it can begin another event. */
export function eventText(event: QueryEvent, id: string): string {
  return `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** The events of a run after a number, until its end. Events that are no longer kept are reported as a comment. */
export async function* runTexts(run: LiveRun, after: number): AsyncGenerator<string> {
  let last = after;
  for (;;) {
    const found = await run.next(last);
    if (found === null) return;
    if (found.number > last + 1) yield `: ${found.number - last - 1} events were omitted\n\n`;
    last = found.number;
    yield eventText(found.event, String(found.number));
  }
}

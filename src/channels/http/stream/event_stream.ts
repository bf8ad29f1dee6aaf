import type { FollowedEvent } from "./followed_query.ts";
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

/** Events in the format of the stream. JSON has no raw line breaks, so nothing in one can begin another. */
export async function* eventTexts(events: AsyncIterable<FollowedEvent>): AsyncGenerator<string> {
  for await (const { id, event, omitted } of events) {
    if (omitted > 0) yield `: ${omitted} events were omitted\n\n`;
    yield `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  }
}

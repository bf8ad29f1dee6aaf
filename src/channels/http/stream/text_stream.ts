import { settledWithin } from "../../../domain/kit/settled_within.ts";

/** A response body of strings. They are read only as fast as the client reads; `alive` is sent after a period of
 * silence. If the client leaves, `texts` ends and `left` is called. */
export function textStream(
  texts: AsyncGenerator<string>,
  { heartbeatMs, alive, left }: {
    readonly heartbeatMs: number;
    readonly alive: string;
    readonly left?: (() => void) | undefined;
  },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let next: Promise<IteratorResult<string>> | null = null;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      next ??= texts.next();
      if (!await settledWithin(next, heartbeatMs)) return controller.enqueue(encoder.encode(alive));
      const step = await next;
      next = null;
      if (step.done) controller.close();
      else controller.enqueue(encoder.encode(step.value));
    },
    cancel() {
      left?.();
      void texts.return(undefined).catch(() => {});
    },
  }, { highWaterMark: 0 });
}

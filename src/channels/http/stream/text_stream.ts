/** A response body of strings. They are read only as fast as the client reads, and once it has read all of them, `alive`
 * is sent in this interval. If the client leaves, `texts` ends and `left` is called. */
export function textStream(
  texts: AsyncGenerator<string>,
  { heartbeatMs, alive, left }: {
    readonly heartbeatMs: number;
    readonly alive: string;
    readonly left?: (() => void) | undefined;
  },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let beat: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      beat ??= setInterval(() => {
        if (controller.desiredSize === 0) controller.enqueue(encoder.encode(alive));
      }, heartbeatMs);
      const step = await texts.next().catch((error: unknown) => {
        clearInterval(beat);
        throw error;
      });
      if (!step.done) return controller.enqueue(encoder.encode(step.value));
      clearInterval(beat);
      controller.close();
    },
    cancel() {
      clearInterval(beat);
      left?.();
      void texts.return(undefined).catch(() => {});
    },
  }, { highWaterMark: 0 });
}

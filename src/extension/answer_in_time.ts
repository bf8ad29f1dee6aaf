import { ENDED } from "../domain/errors.ts";
import type { Clock } from "../domain/kit/time.ts";

export const ANSWER_MS = 30_000;
/** `extend` may start servers, and the longest start that settings allow is ten minutes. */
export const EXTEND_MS = 630_000;

/** An extension returned a promise that did not settle in time. */
export class TookTooLong extends Error {
  constructor(ms: number) {
    super(
      `Cannot wait over ${ms / 1000} s: its promise did not settle; correct it, or exclude it with extensions.deny`,
    );
  }
}

/** Asks an extension, which may return a promise that never settles. Its work then continues. */
export async function answerInTime<T>(
  ask: () => T,
  { clock, ms = ANSWER_MS }: { readonly clock: Pick<Clock, "sleep">; readonly ms?: number },
): Promise<Awaited<T>> {
  const answer = ask();
  if (typeof Object(answer).then !== "function") return await answer;
  const over = new AbortController();
  const limit = clock.sleep(ms, over.signal).then((): never => {
    throw new TookTooLong(ms);
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    over.abort(ENDED);
  }
}

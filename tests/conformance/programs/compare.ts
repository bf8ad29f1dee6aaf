import { runBoxed } from "./boxed.ts";
import { runPlain } from "./plain.ts";
import { type Difference, isEqual, type Outcome, type Place, PLACES, type Program } from "./program.ts";

const NOTHING: Outcome = { printed: "", error: "ended", message: "not run" };

export interface CompareOptions {
  readonly batch: number;
  readonly deadlineMs: number;
  /** Returns whether a difference need not be confirmed by running its program alone. */
  readonly isExpected: (difference: Difference) => boolean;
  readonly onBatch?: (done: number, found: readonly Difference[]) => void;
}

/** Returns every difference. A program with an unexpected difference is run again alone, because another program of its
 * batch could have caused it. */
export async function differencesOf(
  programs: readonly Program[],
  options: CompareOptions,
): Promise<readonly Difference[]> {
  const found: Difference[] = [];
  for (let at = 0; at < programs.length; at += options.batch) {
    const batch = programs.slice(at, at + options.batch);
    const here: Difference[] = [];
    for (const one of await together(batch, { ...options, places: PLACES })) {
      if (options.isExpected(one)) here.push(one);
      else here.push(...await together([one.program], { ...options, places: [one.place] }));
    }
    found.push(...here);
    options.onBatch?.(at + batch.length, here);
  }
  return found;
}

async function together(
  programs: readonly Program[],
  options: CompareOptions & { readonly places: readonly Place[] },
): Promise<Difference[]> {
  const [plain, boxed] = await Promise.all([runPlain(programs, options), runBoxed(programs, options)]);
  return options.places.flatMap((place) =>
    programs.flatMap((program, i) => {
      const one = plain.get(place)?.[i] ?? NOTHING, other = boxed.get(place)?.[i] ?? NOTHING;
      return isEqual(program, one, other) ? [] : [{ program, place, plain: one, sandbox: other }];
    })
  );
}

import { oneLine } from "../domain/text/clip.ts";

/** What the built-in nudges are based on. */
export interface NudgeFacts {
  /** Iterations counted against the budget before the one that is being prepared. */
  readonly used: number;
  readonly budget: number;
  /** Live variables of the user. */
  readonly userVariables: number;
  /** What the model keeps repeating (`Repetition.offender`), or null. */
  readonly offender: string | null;
  /** Describes the repairs that were needed to read the last reply; "" if it followed the format. */
  readonly repaired: string;
  /** No block runs any more: the note of this call says what can still be done. */
  readonly last: boolean;
}

const FEW_LEFT = 1;
const MANY_VARIABLES = 150;
const OFFENDER_CHARS = 80;
const REPAIRED_CHARS = 80;

/** One line for each thing that the model should know before it continues, at most 200 characters each. */
export function builtinNudges({ used, budget, userVariables, offender, repaired, last }: NudgeFacts): string[] {
  const lines: string[] = [];
  const remaining = Math.max(0, budget - used - 1);
  if (last) return [];
  if (remaining <= FEW_LEFT) {
    const left = remaining === 0 ? "This is the last iteration" : "One iteration is left after this one";
    lines.push(`${left}. Finish, or if work is left call requestMoreIterations(n) beside it.`);
  }
  if (userVariables > MANY_VARIABLES) {
    lines.push(`${userVariables} variables: the index is cut. Drop what you no longer need: await forget("a", "b").`);
  }
  if (offender !== null) {
    lines.push(`You repeat yourself: ${oneLine(offender, OFFENDER_CHARS)}. It will not change; try another approach.`);
  }
  if (repaired !== "") {
    const what = oneLine(repaired, REPAIRED_CHARS);
    lines.push(
      `Your last reply had to be repaired (${what}). Send exactly one JSON object, nothing before or after it.`,
    );
  }
  return lines.map((line) => `[system_nudge] ${line}`);
}

import { READING_MODES, type ReadingMode } from "../domain/query/outcomes.ts";

// `readingModeOf` finds the mode by these texts, so sub-queries and retries with the same instructions have the same
// mode.
const PLANNING = `Make a plan, and change nothing: calls that could change something are refused in this request.
Read what the plan depends on. Answer with the plan in Markdown: what you would change, in which files and in which order,
how you would check it, and what is still unclear. The user's next request may tell you to carry it out.`;

const REVIEWING = `Review, and change nothing: calls that could change something are refused in this request.
Read the whole change, then the code that calls it and that it calls. Report only what is wrong: faults, losses of data,
races, holes in security, broken interfaces, tests that cannot fail. Leave style out. Begin with the worst finding. Each
has path:line, a severity (high, medium or low), a short title, an input or order of events that fails, and the smallest
repair. Unless a schema says otherwise, answer in Markdown, with "### path:line severity title" above each finding. If
you are not sure, check it or leave it out. If nothing is wrong, say so, and what you checked.`;

const ASIDE =
  `This is a question beside the work: calls that could change something are refused. Answer it in a few sentences.
The variable conversation has the work so far, if there is any.`;

const READING: Readonly<Record<ReadingMode, string>> = { plan: PLANNING, review: REVIEWING, aside: ASIDE };

export function readingInstructions(instructions: string, mode: ReadingMode): string {
  return [instructions, READING[mode]].filter((text) => text !== "").join("\n\n");
}

/** Returns null if the query may change things. An earlier version may have stored the instructions, so only the first
 * line decides. */
export function readingModeOf({ instructions }: { readonly instructions: string }): ReadingMode | null {
  return READING_MODES.find((mode) => instructions.includes(READING[mode].split("\n", 1)[0] ?? "")) ?? null;
}

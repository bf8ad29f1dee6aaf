/** The instructions of a query that makes a plan. A query is one if its instructions contain them: they are stored with
 * it, and child queries and repetitions get them too. */
const PLANNING = `Make a plan, and change nothing: calls that could change something are refused in this request.
Read what the plan depends on. Answer with the plan in Markdown: what you would change, in which files and in which order,
how you would check it, and what is still unclear. The user's next request may tell you to carry it out.`;

export function planInstructions(instructions: string): string {
  return [instructions, PLANNING].filter((text) => text !== "").join("\n\n");
}

export function isPlanning({ instructions }: { readonly instructions: string }): boolean {
  return instructions.includes(PLANNING);
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

// deno-lint-ignore no-control-regex
const COLOUR = /\x1b\[[0-9;]*m/g;
const STEPS = "(?: \\(\\d+ steps?\\))?";
const SUMMARY = new RegExp(
  `^(?:ok|FAILED) \\| (\\d+) passed${STEPS} \\| (\\d+) failed${STEPS}(?: \\| (\\d+) ignored${STEPS})?`,
  "gm",
);

/** Parses the summary of `deno test` from (the end of) its output; null if it broke off before. */
export function parseSummary(output: string): Counts | null {
  const last = [...output.replace(COLOUR, "").matchAll(SUMMARY)].at(-1);
  return last && { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(last[3] ?? 0) } || null;
}

/** Returns the last line of a test run. */
export function summaryLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`;
}

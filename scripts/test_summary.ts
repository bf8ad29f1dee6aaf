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

export function parseSummary(output: string): Counts | null {
  const last = [...output.replace(COLOUR, "").matchAll(SUMMARY)].at(-1);
  return last && { passed: Number(last[1]), failed: Number(last[2]), skipped: Number(last[3] ?? 0) } || null;
}

export function summaryLine({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ""}`;
}

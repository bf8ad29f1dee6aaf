export interface CommandEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Test runners print their totals last. */
const TAIL_CHARS = 4_000;

/** How a command turned out, in a few words: "12 passed, 1 failed", "exit code 2". "" if there is nothing to say. */
export function commandOutcome({ code, signal, timedOut, stdout, stderr }: CommandEnd): string {
  if (timedOut) return "timed out";
  const tests = testsIn(stdout) || testsIn(stderr);
  if (tests !== "") return tests;
  if (signal !== null) return `ended by ${signal}`;
  return code === 0 ? "" : `exit code ${code}`;
}

/** The totals of Vitest, Jest, pytest, Deno, Cargo, Mocha and others that print "12 passed" or "12 passing". */
function testsIn(output: string): string {
  const tail = output.slice(-TAIL_CHARS);
  const passed = last(tail, /(\d+) pass(?:ed|ing)\b/g);
  const failed = last(tail, /(\d+) fail(?:ed|ing|ures?)\b/g);
  if (passed === null && failed === null) return "";
  return [`${passed ?? 0} passed`, ...failed ? [`${failed} failed`] : []].join(", ");
}

/** Cargo prints a total for each of its programs; what others print last counts. */
function last(text: string, pattern: RegExp): number | null {
  const found = [...text.matchAll(pattern)].map(([, number]) => Number(number));
  const isSum = text.includes("test result: ");
  return found.length === 0 ? null : isSum ? found.reduce((sum, one) => sum + one, 0) : found.at(-1) ?? null;
}

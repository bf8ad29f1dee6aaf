import type { CallOutcome } from "@vis/extension";

export interface CommandEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

interface Tests {
  readonly passed: number | null;
  readonly failed: number | null;
}

/** Test runners print their totals last. */
const TAIL_CHARS = 4_000;

/** How a command turned out, in a few words: "12 passed, 1 failed · exit code 1". "" if there is nothing to say. A test
 * that failed is a failure also if the exit code is that of another command, as in `npm test | tail`. */
export function commandOutcome({ code, signal, timedOut, stdout, stderr }: CommandEnd): CallOutcome {
  const inStdout = testsIn(stdout);
  const tests = inStdout.passed === null && inStdout.failed === null ? testsIn(stderr) : inStdout;
  const end = timedOut ? "timed out" : signal !== null ? `ended by ${signal}` : code === 0 ? "" : `exit code ${code}`;
  const ok = end === "" && (tests.passed === null || !tests.failed);
  const text = [testsText(tests), end].filter((part) => part !== "").join(" · ");
  return ok ? { text } : {
    text: text || "failed",
    ok,
    output: `${stdout.slice(-TAIL_CHARS).trimEnd()}\n${stderr.slice(-TAIL_CHARS)}`.trim(),
  };
}

/** The same for a command that keeps running; "" while it runs. */
export function jobOutcome(
  { running, code, signal, timedOut, output }: Omit<CommandEnd, "stdout" | "stderr"> & {
    readonly running: boolean;
    readonly output: string;
  },
): CallOutcome {
  return running ? { text: "" } : commandOutcome({ code, signal, timedOut, stdout: output, stderr: "" });
}

function testsText({ passed, failed }: Tests): string {
  if (passed === null && failed === null) return "";
  if (!passed && !failed) return "no test passed";
  return [`${passed ?? 0} passed`, ...failed ? [`${failed} failed`] : []].join(", ");
}

/** The totals of Vitest, Jest, pytest, Deno, Cargo, Mocha and others that print "12 passed" or "12 passing". */
function testsIn(output: string): Tests {
  const tail = output.slice(-TAIL_CHARS);
  return { passed: last(tail, /(\d+) pass(?:ed|ing)\b/g), failed: last(tail, /(\d+) fail(?:ed|ing|ures?)\b/g) };
}

/** Cargo prints a total for each of its programs; what others print last counts. */
function last(text: string, pattern: RegExp): number | null {
  const found = [...text.matchAll(pattern)].map(([, number]) => Number(number));
  const isSum = text.includes("test result: ");
  return found.length === 0 ? null : isSum ? found.reduce((sum, one) => sum + one, 0) : found.at(-1) ?? null;
}

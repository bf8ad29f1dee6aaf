/** Prints the results of commands and ends them: reports, JSON, interrupts, exit codes. */
import { type FaultKind, faultOf } from "../../domain/errors.ts";
import { visibleText } from "../../domain/kit/text.ts";
import type { QueryResult } from "../../domain/query/query_schemas.ts";
import type { Io } from "../channel.ts";

/** Writes the result of a command to stdout: as JSON if its flags say so, otherwise as lines without control
 * characters. Returns the exit code 0. */
export function printReport(
  value: unknown,
  lines: readonly string[],
  { io, flags }: {
    readonly io: Pick<Io, "stdout">;
    readonly flags: { readonly json?: boolean | undefined; readonly output?: "text" | "json" };
  },
): number {
  if (flags.json || flags.output === "json") io.stdout(jsonText(value, { indent: 2 }));
  else for (const line of lines) io.stdout(`${visibleText(line)}\n`);
  return 0;
}

/** A value as JSON and a line end. Characters that control a terminal or that nobody sees are escapes of JSON. */
export function jsonText(value: unknown, { indent = 0 }: { readonly indent?: number } = {}): string {
  return `${visibleText(JSON.stringify(value, null, indent))}\n`;
}

/** A signal that Ctrl-C and other signals of the system abort until the end of the scope. */
export function interrupt(io: Pick<Io, "onInterrupt">): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const stop = io.onInterrupt(() => controller.abort());
  return { signal: controller.signal, [Symbol.dispose]: stop };
}

/** The manual and the page of the command line explain each exit code with these texts. The help of `vis run` has
 * them in short. */
export const EXIT_CODES: readonly { readonly term: string; readonly about: string }[] = [
  { term: "0", about: "success: there is an answer, or the command did its work" },
  { term: "1", about: "the request failed or reached a limit; a check found a problem; a search found nothing" },
  { term: "2", about: "invalid usage: an option, an argument or an input cannot be used" },
  {
    term: "3",
    about:
      "a setting is missing or wrong, no provider is available, the database cannot be used, or an answer could not be stored",
  },
  { term: "130", about: "cancelled" },
  { term: "141", about: "the reader of the output has closed it" },
];

const OF_FAULTS: Readonly<Record<FaultKind, number>> = {
  provider: 1,
  busy: 1,
  output: 1,
  usage: 2,
  config: 3,
  store: 3,
  cancelled: 130,
};

/** 0 answer; 1 the query failed or reached a limit; 2 usage; 3 configuration, no provider or the database; 130
 * cancelled. */
export function exitCodeOf(result: QueryResult): number {
  if (result.status === "done") return 0;
  if (result.reason === "unstored") return 3;
  return result.reason === "cancelled" ? 130 : 1;
}

/** The exit code and a one-sentence message for an error that reached the channel; null for a defect. */
export function describeError(error: unknown): { readonly code: number; readonly message: string } | null {
  const fault = faultOf(error);
  return fault && { code: OF_FAULTS[fault.kind], message: fault.message };
}

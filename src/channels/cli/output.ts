import { type FaultKind, faultOf } from "../../domain/errors.ts";
import { visibleText } from "../../domain/kit/text.ts";
import type { VersionFacts } from "../../domain/admin_reports.ts";
import type { QueryResult } from "../../domain/query/query_schemas.ts";
import type { Io } from "../channel.ts";

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

export function jsonText(value: unknown, { indent = 0 }: { readonly indent?: number } = {}): string {
  return `${visibleText(JSON.stringify(value, null, indent))}\n`;
}

export function interrupt(io: Pick<Io, "onInterrupt">): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const stop = io.onInterrupt(() => controller.abort());
  return { signal: controller.signal, [Symbol.dispose]: stop };
}

export const EXIT_CODES: readonly { readonly term: string; readonly about: string }[] = [
  { term: "0", about: "success: there is an answer, or the command did its work" },
  {
    term: "1",
    about:
      "a failure without a code of its own: for example, the request failed or reached a limit, its branch was busy, a check failed, or a search found nothing",
  },
  { term: "2", about: "invalid usage: an option, an argument or an input is invalid" },
  {
    term: "3",
    about:
      "a fault of settings, system or database: for example, a setting is wrong, no provider is available, or Vis could not store an answer",
  },
  { term: "130", about: "cancelled, for example by Ctrl-C" },
  { term: "141", about: "the reader of the output closed it" },
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

export function exitCodeOf(result: QueryResult): number {
  if (result.status === "done") return 0;
  if (result.reason === "unstored") return 3;
  return result.reason === "cancelled" ? 130 : 1;
}

export function describeError(error: unknown): { readonly code: number; readonly message: string } | null {
  const fault = faultOf(error);
  return fault && { code: OF_FAULTS[fault.kind], message: fault.message };
}

export function versionLine({ vis, deno, v8, target, compiled }: VersionFacts): string {
  return `vis ${vis} (deno ${deno}, v8 ${v8}, ${target}${compiled ? ", compiled" : ""})`;
}

import type { AskOptions } from "../../../conversation/send_options.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import { hasAnswer, stoppedText } from "../../../domain/query/outcomes.ts";
import type { QueryEvent, QueryResult } from "../../../domain/query/query_schemas.ts";
import type { Io } from "../../channel.ts";
import { interrupt } from "../input/interrupt.ts";
import { exitCodeOf } from "../output/exit_code.ts";
import { jsonText } from "../output/json_text.ts";
import { printedAnswer } from "../output/printed_answer.ts";
import { terminalApproval } from "./ask_approval.ts";
import { Progress } from "./progress.ts";
import { Trace } from "./trace.ts";

export interface QueryCommandFlags {
  readonly output: "text" | "json" | "jsonl";
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly trace?: boolean;
}

interface QueryCommand {
  readonly io: Io;
  readonly flags: QueryCommandFlags;
  /** Whether an answer must satisfy a schema: readers of stdout can rely on it. */
  readonly schema: boolean;
  /** Begins the query; the progress shows what the user should know first. */
  readonly begin: (
    options: Pick<AskOptions, "signal" | "emit" | "approve">,
    progress: Progress,
  ) => Promise<QueryResult>;
  /** Everything that the query did, for `--trace` in JSON. */
  readonly traceOf?: (result: QueryResult) => Promise<object | null>;
}

/** Runs one query: progress on stderr, only the answer on stdout. Ctrl-C cancels it. Resolves with the exit code. */
export async function runQueryCommand({ io, flags, schema, begin, traceOf }: QueryCommand): Promise<number> {
  const progress = new Progress(io, {
    verbose: flags.verbose || flags.trace === true,
    thinking: flags.trace !== true,
  });
  const trace = flags.trace && !flags.quiet ? new Trace(io, (text) => progress.painted(text)) : null;
  using interrupted = interrupt(io);
  try {
    const emit = (event: QueryEvent): void => show(event, { io, flags, progress, trace });
    const approve = terminalApproval(io);
    const options = { signal: interrupted.signal, emit, ...(approve ? { approve } : {}) };
    const result = await begin(options, progress);
    progress.clear();
    const isAnswer = hasAnswer(result) && (!schema || result.value !== undefined);
    const traced = flags.trace && flags.output === "json" ? { trace: await traceOf?.(result) ?? null } : {};
    await print({ ...result, ...traced }, { io, flags, isAnswer });
    const failure = isAnswer ? besideAnswer(result) : result.answer;
    if (failure !== "") io.stderr(`vis: ${visibleText(failure)}\n`);
    if (!flags.quiet) progress.line(summary(result));
    return exitCodeOf(result);
  } finally {
    progress.clear();
  }
}

function show(
  event: QueryEvent,
  { io, flags, progress, trace }: {
    readonly io: Io;
    readonly flags: QueryCommandFlags;
    readonly progress: Progress;
    readonly trace: Trace | null;
  },
): void {
  if (flags.output === "jsonl") io.stdout(jsonText(event));
  trace?.show(event);
  if (!flags.quiet) progress.show(event);
}

async function print(
  result: QueryResult,
  { io, flags, isAnswer }: { readonly io: Io; readonly flags: QueryCommandFlags; readonly isAnswer: boolean },
): Promise<void> {
  if (flags.output === "json") io.stdout(jsonText(result, { indent: 2 }));
  if (flags.output === "text" && isAnswer) io.stdout(await printedAnswer(result, io));
}

/** What a reader of the answer must know: that it is not stored, or that the query was stopped. */
function besideAnswer(result: QueryResult): string {
  return result.reason === "unstored" ? result.notes.at(-1) ?? "" : stoppedText(result);
}

function summary(result: QueryResult): string {
  const { iterations, usage, costUsd, ms, reason } = result;
  const parts = [
    `${iterations} step${iterations === 1 ? "" : "s"}`,
    `${(ms / 1000).toFixed(1)} s`,
    `${usage.input} in + ${usage.output} out tokens`,
  ];
  if (costUsd === null) parts.push("price unknown");
  else if (costUsd > 0) parts.push(`$${costUsd.toFixed(4)}`);
  const notes = reason === "unstored" ? result.notes.slice(0, -1) : result.notes;
  return [parts.join(" · "), ...notes].join("\n");
}

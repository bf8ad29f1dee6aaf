import pc from "picocolors";
import type { AskOptions } from "../../../conversation/send_options.ts";
import { abortable } from "../../../domain/kit/concurrency.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import {
  type ApprovalAnswer,
  approvalBeginning,
  approvalChoices,
  type ApprovalQuestion,
  approvalTitle,
  approvalWhy,
  type Approve,
} from "../../../domain/query/approval.ts";
import { spentText } from "../../../domain/query/model_call.ts";
import { hasAnswer, notesBelow, stoppedText } from "../../../domain/query/outcomes.ts";
import { isChild } from "../../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../../domain/query/query_schemas.ts";
import type { Io } from "../../channel.ts";
import { exitCodeOf, interrupt, jsonText } from "../output.ts";
import { Progress, type ProgressOptions } from "./progress.ts";

export interface QueryCommandFlags {
  readonly output: "text" | "json" | "jsonl";
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly trace?: boolean;
}

interface QueryCommand {
  readonly io: Io;
  readonly flags: QueryCommandFlags;
  /** Whether an answer must satisfy a schema, on which readers of stdout rely. */
  readonly schema: boolean;
  /** Begins the query; the progress first shows notes for the user. */
  readonly begin: (
    options: Pick<AskOptions, "signal" | "emit" | "approve" | "showsOutput">,
    progress: Progress,
  ) => Promise<QueryResult>;
  /** Returns a record of the whole query, for `--trace` in JSON. */
  readonly traceOf?: (result: QueryResult) => Promise<object | null>;
}

/** Runs one query: progress on stderr, only the answer on stdout. Ctrl-C cancels it. Resolves with the exit code. */
export async function runQueryCommand({ io, flags, schema, begin, traceOf }: QueryCommand): Promise<number> {
  const isWatched = flags.output === "text" && !flags.quiet && io.stdoutIsTerminal && io.stderrIsTerminal;
  const progress = new Progress(io, {
    verbose: flags.verbose || flags.trace === true,
    thinking: flags.trace !== true,
    draft: isWatched ? (text) => draftLines(text, io) : undefined,
    diff: io.stderrIsTerminal && !flags.quiet ? await changeDrawing(io) : undefined,
  });
  const trace = flags.trace && !flags.quiet ? new Trace(io, (text) => progress.painted(text)) : null;
  using interrupted = interrupt(io);
  try {
    const emit = (event: QueryEvent): void => show(event, { io, flags, progress, trace });
    const approve = terminalApproval(io);
    const showsOutput = flags.output === "text" && !flags.quiet && io.stderrIsTerminal;
    const options = { signal: interrupted.signal, emit, showsOutput, ...(approve ? { approve } : {}) };
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

/** Warns the reader of the answer if it is not stored, or if the query was stopped. */
function besideAnswer(result: QueryResult): string {
  return result.reason === "unstored" ? result.notes.at(-1) ?? "" : stoppedText(result);
}

function summary(result: QueryResult): string {
  const { iterations, ms, reason } = result;
  const parts = [
    `${iterations} step${iterations === 1 ? "" : "s"}`,
    `${(ms / 1000).toFixed(1)} s`,
    ...spentText(result),
  ];
  const notes = notesBelow(result, "vis undo");
  return [parts.join(" · "), ...reason === "unstored" ? notes.slice(0, -1) : notes].join("\n");
}

/** Returns a function that asks on the terminal; undefined if there is none, and then no user is asked. */
function terminalApproval(io: Io): Approve | undefined {
  if (!io.stdinIsTerminal || !io.stderrIsTerminal) return undefined;
  return async (question, signal) =>
    answerOf(await abortable(io.askLine(questionText(question), { typedNow: true }), signal), question);
}

function questionText(question: ApprovalQuestion): string {
  const more = [approvalWhy(question), approvalBeginning(question)];
  const choices = approvalChoices(question).map(({ key, text }) => `  ${key}  ${text}`);
  return [
    approvalTitle(question),
    ...more.filter((text) => text !== "").map((text) => `  ${text}`),
    ...choices,
    "Answer with a letter, or say why not: ",
  ].join("\n");
}

/** A line that is not one of the choices is a refusal with its reason; so is an empty line. */
export function answerOf(line: string, question: Pick<ApprovalQuestion, "scope" | "lasting">): ApprovalAnswer {
  const typed = line.trim().toLowerCase();
  const word = { yes: "y", always: "a", conversation: "c", no: "n" }[typed] ?? typed;
  const chosen = approvalChoices(question).find(({ key }) => key === word);
  if (chosen) return { decision: chosen.decision, reason: "" };
  return { decision: "no", reason: line.trim() };
}

/** Adds the details of `--trace` to a query's progress on stderr: thinking, calls of blocks, tokens and time of each
 * iteration, nudges. `line` writes one line. */
export class Trace {
  readonly #color: ReturnType<typeof pc.createColors>;
  readonly #line: (text: string) => void;
  #thinking = "";

  constructor(io: Pick<Io, "stderrColor">, line: (text: string) => void) {
    this.#color = pc.createColors(io.stderrColor);
    this.#line = line;
  }

  show(event: QueryEvent): void {
    if (event.type === "thinking") {
      this.#thinking += event.delta;
      return;
    }
    this.#flush();
    const at = `${isChild(event) ? "↳ " : ""}[${event.iteration ?? 0}]`;
    switch (event.type) {
      case "host_call":
        if (event.phase === "end") {
          const outcome = event.outcome ? ` · ${event.outcome}` : "";
          this.#say(`    ${event.name} ${event.ok ? "✓" : "✗"} ${Math.round(event.ms ?? 0)} ms${outcome}`);
        }
        return;
      case "nudge":
        for (const line of event.lines) this.#say(`${at} nudge: ${line}`);
        return;
      case "usage":
        return this.#say(`${at} ${spentText({ usage: event.usage, costUsd: 0 }).join()}`);
      case "iteration_finished":
        return this.#say(`${at} ${event.outcome} after ${Math.round(event.ms)} ms`);
      default:
        return;
    }
  }

  /** Thinking is written whole, before the next output. */
  #flush(): void {
    const text = this.#thinking.trim();
    this.#thinking = "";
    if (text !== "") { for (const line of text.split("\n")) this.#say(`~ ${line}`); }
  }

  #say(text: string): void {
    this.#line(this.#color.dim(visibleText(text)));
  }
}

/** Matches lines that have a meaning in Markdown and hardly occur in other answers. */
const MARKED = /^(?:#{1,6} |```|\||[-*] |\d+\. )/m;
const MAX_MARKDOWN = 100_000;
/** Some terminals report no width. */
const MIN_WIDTH = 24;
const MAX_WIDTH = 120;

/** Returns an answer as it is written to stdout. On a terminal, Markdown is drawn; elsewhere the answer is unchanged.
 * It ends its line. */
export async function printedAnswer(
  { answer, answerType }: Pick<QueryResult, "answer" | "answerType">,
  { stdoutIsTerminal, stdoutColor, columns }: Pick<Io, "stdoutIsTerminal" | "stdoutColor" | "columns">,
): Promise<string> {
  if (!stdoutIsTerminal) return ended(answer);
  if (answerType !== "markdown" && !MARKED.test(answer) || answer.length > MAX_MARKDOWN) {
    return ended(visibleText(answer));
  }
  return ended((await answerLines(answer, { stdoutColor, columns })).join("\n"));
}

/** Loads the drawing of changed files, which only a terminal needs. */
async function changeDrawing({ stderrColor }: Io): Promise<NonNullable<ProgressOptions["diff"]>> {
  const [{ diffLines }, { terminalPaint }] = await Promise.all([
    import("../../../markdown/terminal/diff_lines.ts"),
    import("../../../markdown/terminal/paint.ts"),
  ]);
  const paint = terminalPaint({ color: stderrColor, weights: stderrColor });
  return (diff, place) => diffLines(diff, { ...place, paint });
}

/** Draws an answer that may still be refused in dim text. */
async function draftLines(text: string, io: Io): Promise<readonly string[]> {
  const lines = await answerLines(text, io);
  if (!io.stdoutColor) return lines;
  const { faded } = await import("../../../markdown/terminal/paint.ts");
  return lines.map(faded);
}

/** Draws Markdown as lines of the terminal; of a very long text, only its end. */
async function answerLines(
  text: string,
  { stdoutColor, columns }: Pick<Io, "stdoutColor" | "columns">,
): Promise<readonly string[]> {
  const [{ parseMarkdown }, { markdownLines }, { terminalPaint }] = await Promise.all([
    import("../../../markdown/parse_markdown.ts"),
    import("../../../markdown/terminal/markdown_lines.ts"),
    import("../../../markdown/terminal/paint.ts"),
  ]);
  const paint = terminalPaint({ color: stdoutColor, weights: stdoutColor });
  const width = Math.min(Math.max(MIN_WIDTH, columns()), MAX_WIDTH);
  return markdownLines(parseMarkdown(text.slice(-MAX_MARKDOWN), { clean: visibleText }), { width, paint });
}

function ended(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

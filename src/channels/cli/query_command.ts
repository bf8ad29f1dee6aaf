import pc from "picocolors";
import type { AskOptions } from "../../conversation/ask_options.ts";
import { abortable } from "../../domain/kit/concurrency.ts";
import { readableJson } from "../../domain/kit/json.ts";
import { clip, counted, durationText, elapsedText, oneLine, runningText, visibleText } from "../../domain/kit/text.ts";
import {
  type ApprovalAnswer,
  approvalBeginning,
  approvalChange,
  approvalChoices,
  approvalExact,
  type ApprovalQuestion,
  approvalTitle,
  approvalWhy,
  type Approve,
} from "../../domain/query/approval.ts";
import { BlockTally, type CallLine } from "../../domain/query/host_call.ts";
import { spentText } from "../../domain/query/model_call.ts";
import { hasAnswer, type QueryReason, reasonText, stoppedText } from "../../domain/query/outcomes.ts";
import { notesBelow } from "../../domain/query/work_summary.ts";
import { type Delay, delayLine, isChild, isEnd } from "../../domain/query/query_event.ts";
import { blockFailure, blockLine, newBlock, onlyAnswers, QueryProgress } from "../../domain/query/query_progress.ts";
import { planLine, taskLine } from "../../domain/query/plan.ts";
import type { BlockResult, PlanItem, QueryEvent, QueryResult } from "../../domain/query/query_schemas.ts";
import type { Io } from "../channel.ts";
import { exitCodeOf, interrupt, jsonText } from "./output.ts";

export interface QueryCommandFlags {
  readonly output: "text" | "json" | "jsonl";
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly trace?: boolean;
}

export interface QueryCommand {
  readonly io: Io;
  readonly flags: QueryCommandFlags;
  readonly schema: boolean;
  readonly begin: (
    options: Pick<AskOptions, "signal" | "emit" | "approve" | "onUnasked" | "showsOutput">,
    progress: Progress,
  ) => Promise<QueryResult>;
  readonly traceOf?: (result: QueryResult) => Promise<object | null>;
}

export async function runQueryCommand({ io, flags, schema, begin, traceOf }: QueryCommand): Promise<number> {
  const isWatched = flags.output === "text" && !flags.quiet && io.stdoutIsTerminal && io.stderrIsTerminal;
  const progress = new Progress(io, {
    verbose: flags.verbose || flags.trace === true,
    thinking: flags.trace !== true,
    draft: isWatched ? (text) => draftLines(text, io) : undefined,
    diff: flags.quiet ? undefined : await changeDrawing(io),
  });
  const trace = flags.trace && !flags.quiet ? new Trace(io, (text) => progress.painted(text)) : null;
  using interrupted = interrupt(io);
  try {
    const emit = (event: QueryEvent): void => show(event, { io, flags, progress, trace });
    const approve = terminalApproval(io);
    const showsOutput = flags.output === "text" && !flags.quiet && io.stderrIsTerminal;
    const unasked = new Set<string>();
    const onUnasked = (option: string): void => void unasked.add(option);
    const options = { signal: interrupted.signal, emit, showsOutput, onUnasked, ...(approve ? { approve } : {}) };
    const result = await begin(options, progress);
    progress.clear();
    const isAnswer = hasAnswer(result) && (!schema || result.value !== undefined);
    const traced = flags.trace && flags.output === "json" ? { trace: await traceOf?.(result) ?? null } : {};
    await print({ ...result, ...traced }, { io, flags, isAnswer });
    const failure = isAnswer ? besideAnswer(result) : result.answer;
    if (failure !== "") {
      const way = WAYS[result.reason];
      io.stderr(`vis: ${visibleText(failure)}${way === undefined ? "" : `\n(${way})`}\n`);
    }
    const below = [...flags.quiet ? problemNotes(result) : summary(result), ...unaskedText(unasked)];
    if (below.length > 0) progress.line(below.join("\n"));
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

const MORE_WAY = "vis run --more continues the request";
const MODELS_WAY = "vis models lists the models";
const WAYS: Readonly<Partial<Record<QueryReason, string>>> = {
  max_iterations: MORE_WAY,
  answer_schema: MORE_WAY,
  unusable_replies: MODELS_WAY,
  unsupported_answer: MODELS_WAY,
  limit_cost: "vis run --max-cost sets the cost limit of a request",
  limit_time: "vis run --timeout sets the time limit of a request",
};

function besideAnswer(result: QueryResult): string {
  return result.reason === "unstored" ? result.notes.at(-1) ?? "" : stoppedText(result);
}

function summary(result: QueryResult): readonly string[] {
  const { iterations, ms, reason } = result;
  const parts = [
    counted(iterations, "step"),
    elapsedText(ms),
    ...spentText(result),
  ];
  const notes = notesBelow(result, { undo: "vis undo", more: "vis conversations show" });
  return [parts.join(" · "), ...reason === "unstored" ? notes.slice(0, -1) : notes];
}

function problemNotes({ notes, work, reason }: QueryResult): readonly string[] {
  return (reason === "unstored" ? notes.slice(0, -1) : notes).filter((note) => note !== work?.text);
}

function unaskedText(options: ReadonlySet<string>): readonly string[] {
  if (options.size === 0) return [];
  const named = visibleText(oneLine([...options].join(" "), 300));
  return [
    `Vis refused actions, because nobody can answer its questions here; to allow such actions for one run, add ${named}`,
  ];
}

function terminalApproval(io: Io): Approve | undefined {
  if (!io.stdinIsTerminal || !io.stderrIsTerminal) return undefined;
  return async (question, signal) => {
    const text = await questionText(question, { width: Math.max(MIN_WIDTH, io.columns()), color: io.stderrColor });
    const line = await abortable(io.askLine(text, { typedNow: true }), signal);
    if (line.trim().toLowerCase() !== "w") return answerOf(line, question);
    const reason = await abortable(io.askLine("Why not? ", { typedNow: true }), signal);
    return { decision: "no", reason: reason.trim() };
  };
}

export async function questionText(
  question: ApprovalQuestion,
  { width, color = false }: { readonly width: number; readonly color?: boolean },
): Promise<string> {
  const [{ textColumns, wrapRuns }, { diffLines, WHOLE_DIFF }, { terminalPaint }] = await Promise.all([
    import("../../markdown/terminal/wrap.ts"),
    import("../../markdown/terminal/diff_lines.ts"),
    import("../../markdown/terminal/paint.ts"),
  ]);
  const indented = (text: string, head: string): string => {
    const lines = wrapRuns([{ text, paint: String }], { width: width - head.length, columns: textColumns });
    return lines.map((line, at) => `${at === 0 ? head : " ".repeat(head.length)}${line}`).join("\n");
  };
  const below = (text: string): readonly string[] => text === "" ? [] : [indented(text, "  ")];
  const change = approvalChange(question);
  const paint = terminalPaint({ color, weights: color });
  const place = { width: width - 4, paint, ...WHOLE_DIFF };
  return [
    indented(approvalTitle(question), ""),
    ...below(approvalExact(question)),
    ...change === "" ? [] : diffLines(change, place).map((line) => `  ${paint.mark("│")} ${line}`),
    ...[approvalWhy(question), approvalBeginning(question)].flatMap(below),
    ...approvalChoices(question).map(({ key, text }) => indented(text, `  ${key}  `)),
    "Answer with a letter, or say why not: ",
  ].join("\n");
}

export function answerOf(line: string, question: Pick<ApprovalQuestion, "scope" | "lasting">): ApprovalAnswer {
  const typed = line.trim().toLowerCase();
  const word = { yes: "y", always: "a", conversation: "c", no: "n" }[typed] ?? typed;
  const chosen = approvalChoices(question).find(({ key }) => key === word);
  if (chosen) return { decision: chosen.decision, reason: "" };
  return { decision: "no", reason: line.trim() };
}

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

  #flush(): void {
    const text = this.#thinking.trim();
    this.#thinking = "";
    if (text !== "") { for (const line of text.split("\n")) this.#say(`~ ${line}`); }
  }

  #say(text: string): void {
    this.#line(this.#color.dim(visibleText(text)));
  }
}

const MARKED = /^(?:#{1,6} |```|\||[-*] |\d+\. )/m;
const MAX_MARKDOWN = 100_000;
const MIN_WIDTH = 24;
const MAX_WIDTH = 120;

export async function printedAnswer(
  { answer, answerType }: Pick<QueryResult, "answer" | "answerType">,
  { stdoutIsTerminal, stdoutColor, columns }: Pick<Io, "stdoutIsTerminal" | "stdoutColor" | "columns">,
): Promise<string> {
  if (!stdoutIsTerminal) return ended(answer);
  if (answer.length > MAX_MARKDOWN) return ended(visibleText(answer));
  const json = readableJson(answer, Math.max(MIN_WIDTH, columns()));
  if (json !== null) return ended(visibleText(json));
  if (answerType !== "markdown" && !MARKED.test(answer)) return ended(visibleText(answer));
  return ended((await answerLines(answer, { stdoutColor, columns })).join("\n"));
}

async function changeDrawing({ stderrColor }: Io): Promise<NonNullable<ProgressOptions["diff"]>> {
  const [{ diffLines }, { terminalPaint }] = await Promise.all([
    import("../../markdown/terminal/diff_lines.ts"),
    import("../../markdown/terminal/paint.ts"),
  ]);
  const paint = terminalPaint({ color: stderrColor, weights: stderrColor });
  return (diff, place) => diffLines(diff, { ...place, paint });
}

async function draftLines(text: string, io: Io): Promise<readonly string[]> {
  const lines = await answerLines(text, io);
  if (!io.stdoutColor) return lines;
  const { faded } = await import("../../markdown/terminal/paint.ts");
  return lines.map(faded);
}

async function answerLines(
  text: string,
  { stdoutColor, columns }: Pick<Io, "stdoutColor" | "columns">,
): Promise<readonly string[]> {
  const [{ parseMarkdown }, { markdownLines }, { terminalPaint }] = await Promise.all([
    import("../../markdown/parse_markdown.ts"),
    import("../../markdown/terminal/markdown_lines.ts"),
    import("../../markdown/terminal/paint.ts"),
  ]);
  const paint = terminalPaint({ color: stdoutColor, weights: stdoutColor });
  const width = Math.min(Math.max(MIN_WIDTH, columns()), MAX_WIDTH);
  return markdownLines(parseMarkdown(text.slice(-MAX_MARKDOWN), { clean: visibleText }), { width, paint });
}

function ended(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

const MOST_RESULT = 2_000;

type DrawAnswer = (text: string) => Promise<readonly string[]>;
type DrawDiff = (diff: string, place: { readonly width: number; readonly most?: number }) => readonly string[];

export interface ProgressOptions {
  readonly verbose: boolean;
  readonly thinking?: boolean;
  readonly draft?: DrawAnswer | undefined;
  readonly diff?: DrawDiff | undefined;
}

const FRAME_MS = 33;
const FREE_ROWS = 3;

/** A terminal would break the lines inside words. */
function folded(text: string, width: number): string {
  let column = 0;
  return text.replace(/( *)(\S+)/g, (_, gap: string, word: string) => {
    const isFull = column > 0 && column + gap.length + word.length > width;
    column = isFull ? 2 + word.length : column + gap.length + word.length;
    return isFull ? `\n  ${word}` : gap + word;
  });
}

export class Progress {
  readonly #io: Io;
  readonly #verbose: boolean;
  readonly #color: ReturnType<typeof pc.createColors>;
  readonly #live: LiveLines;
  readonly #draw: DrawAnswer | null;
  readonly #drawChange: DrawDiff | null;
  #draft: readonly string[] = [];
  #drawing = false;
  readonly #progress = new QueryProgress();
  readonly #thinking: boolean;
  #numbered: number | null = null;
  #thought: number | null = null;
  #tasks = "";
  readonly #meanwhile: QueryEvent[] = [];
  /** The answer of a failed query can repeat the reason, so Vis prints the reason only with the next event. */
  #held: { readonly at: string; readonly reason: string } | null = null;

  constructor(io: Io, options: ProgressOptions) {
    this.#io = io;
    this.#draw = options.draft ?? null;
    this.#drawChange = options.diff ?? null;
    this.#thinking = options.thinking ?? true;
    this.#verbose = options.verbose;
    this.#color = pc.createColors(io.stderrColor);
    const time = () => this.#progress.callTime;
    this.#live = new LiveLines({ write: io.stderr, width: () => this.#width(), paint: this.#color.dim, time });
  }

  show(event: QueryEvent): void {
    if (event.type === "approval_requested") this.clear();
    // Output must not cover an approval that waits for the user.
    if (this.#progress.question !== null && !isEnd(event) && event.type !== "approval_answered") {
      return void this.#meanwhile.push(event);
    }
    this.#show(event);
    for (const late of this.#progress.question === null ? this.#meanwhile.splice(0) : []) this.#show(late);
  }

  #show(event: QueryEvent): void {
    this.#release(event);
    this.#progress.take(event);
    if (isChild(event)) return this.#child(event);
    const at = event.iteration === null ? "" : `[${event.iteration}] `;
    if (event.type !== "thinking") this.#think(event.iteration);
    switch (event.type) {
      case "started":
        return this.#waiting();
      case "block_started":
        if (this.#verbose) this.#code(at, event.code);
        return this.#status(at);
      case "thinking":
      case "code":
      case "call_output":
      case "approval_answered":
        return this.#status(at);
      case "answer_draft":
        this.#status(at);
        return void this.#drawDraft();
      case "block_finished":
        return this.#verbose ? this.#result(event) : this.#told(event);
      case "host_call":
        if (this.#progress.late !== null) return this.#endedLate(at, event);
        for (const diff of this.#verbose ? event.diffs ?? [] : []) this.#diff(diff);
        return event.phase === "start" ? this.#status(at) : undefined;
      case "retrying":
      case "waiting":
        return this.#late(at, event);
      case "plan":
        return this.#plan(event.items);
      case "iteration_finished":
        return this.#finished(at, event);
      case "final":
      case "failed":
      case "cancelled":
        return this.clear();
      default:
        return;
    }
  }

  #child(event: QueryEvent): void {
    const { child, children } = this.#progress;
    const task = oneLine(child?.task ?? "", 60);
    if (isEnd(event)) {
      const { status, reason, iterations, answer } = event.result;
      const mark = status === "done" ? this.#color.green("✓") : this.#color.red("✗");
      const text = oneLine(visibleText(status === "done" ? answer : reasonText(reason)), 80);
      return this.painted(`    ${this.#color.dim(`↳ ${task} (${iterations})`)} ${mark} ${text}`);
    }
    const at = `↳ [${event.iteration ?? 0}] `;
    if (event.type === "retrying" || event.type === "waiting") return this.#late(at, event);
    const more = children.size > 1 ? ` (+${children.size - 1})` : "";
    if (event.type !== "usage") this.#status(at, `${task}${more}`);
  }

  /** Without a terminal, a long silence would look like the end, so the notice is a line of output. */
  #late(at: string, event: Delay): void {
    const text = `${at}${delayLine(event)}`;
    if (this.#io.stderrIsTerminal) return this.#live.show(text, this.#above);
    this.painted(this.#color.dim(oneLine(visibleText(text), 220)));
  }

  #waiting(): void {
    this.#status("");
  }

  #width(): number {
    return this.#io.stderrIsTerminal ? Math.max(24, this.#io.columns()) : 100;
  }

  clear(): void {
    this.#live.clear();
  }

  line(text: string): void {
    this.painted(folded(visibleText(text), this.#io.stderrIsTerminal ? this.#width() : Infinity));
  }

  painted(text: string): void {
    this.clear();
    this.#io.stderr(`${text}\n`);
  }

  #status(at: string, text: string = this.#progress.doing): void {
    if (this.#io.stderrIsTerminal) this.#live.show(`${at}${text}…`, this.#above);
  }

  get #above(): readonly string[] {
    const { draft, step, block } = this.#progress;
    if (draft !== "") return this.#draft;
    const printing = step?.blocks[block]?.printing ?? "";
    if (printing === "") return [];
    const width = this.#width() - 5;
    const lines = visibleText(printing).replaceAll("\t", "    ").split("\n");
    return lines.map((line) => `    ${this.#color.dim(line.slice(0, width))}`);
  }

  async #drawDraft(): Promise<void> {
    if (this.#draw === null || this.#drawing) return;
    this.#drawing = true;
    for (let drawn = ""; this.#progress.draft !== "" && this.#progress.draft !== drawn;) {
      drawn = this.#progress.draft;
      const lines = await this.#draw(drawn);
      this.#draft = lines.slice(-Math.max(1, this.#io.rows() - FREE_ROWS));
      const { draft, question, step } = this.#progress;
      if (draft !== "" && question === null) this.#status(`[${step?.number ?? 1}] `);
      await new Promise((resolve) => setTimeout(resolve, FRAME_MS));
    }
    this.#drawing = false;
  }

  #margin(iteration: number | null): string {
    if (iteration === null) return "";
    const at = `[${iteration}] `;
    const isFirst = this.#numbered !== iteration;
    this.#numbered = iteration;
    return isFirst ? this.#color.dim(at) : " ".repeat(at.length);
  }

  #think(iteration: number | null): void {
    const { step } = this.#progress;
    if (!this.#thinking || step === null || step.number !== iteration || this.#thought === iteration) return;
    const text = step.thinking.trim();
    if (text === "") return;
    this.#thought = iteration;
    this.painted(`${this.#margin(iteration)}${this.#color.dim(oneLine(visibleText(text), this.#width() - 8))}`);
  }

  #told({ iteration, block, result }: Extract<QueryEvent, { type: "block_finished" }>): void {
    const shown = this.#progress.step?.blocks[block] ?? newBlock();
    if (onlyAnswers({ ...shown, result })) return;
    const time = ` ${durationText(result.ms)}`;
    const room = this.#width() - 8 - time.length;
    const { lines, isCode, refused, threw } = blockLine({ ...shown, result }, room);
    for (const [at, { state, text }] of lines.entries()) {
      const line = oneLine(visibleText(text), room);
      const end = at < lines.length - 1 || refused ? "" : this.#color.dim(time);
      const told = isCode && state !== "refused" ? this.#color.cyan(line) : line;
      this.painted(`${this.#margin(iteration)}${this.#marked(state, told)}${end}`);
    }
    if (refused) return this.#output(shown.tally);
    if (!result.ok) this.#indented(`${threw ? "✗ " : ""}${failureText(result)}`, this.#color.red);
    else if (shown.tally.reason !== "") this.#indented(visibleText(shown.tally.reason), this.#color.red);
    this.#output(shown.tally);
    for (const diff of shown.diffs) this.#diff(diff);
  }

  #marked(state: CallLine["state"], text: string): string {
    if (state === "refused") return this.#color.dim(`– ${text}`);
    return `${state === "ok" ? this.#color.green("✓") : this.#color.red("✗")} ${text}`;
  }

  #endedLate(at: string, event: Extract<QueryEvent, { type: "host_call" }>): void {
    const tally = BlockTally.of([event]);
    if (tally.text === "") return;
    const room = this.#width() - 8;
    for (const { state, text } of tally.linesWithin(room)) {
      this.painted(`${this.#color.dim(at)}${this.#marked(state, oneLine(visibleText(text), room))}`);
    }
    this.#output(tally);
    for (const diff of event.diffs ?? []) this.#diff(diff);
  }

  #plan(items: readonly PlanItem[]): void {
    if (items.length === 0) return;
    const room = this.#width() - 8, tasks = items.map(({ text }) => text).join("\n");
    const lines = tasks === this.#tasks ? [`▸ ${planLine(items)}`] : items.map(taskLine);
    this.#tasks = tasks;
    for (const line of lines) this.painted(`    ${this.#color.dim(oneLine(line, room))}`);
  }

  #code(at: string, written: string): void {
    const lines = visibleText(written).trimEnd().split("\n");
    for (const [index, line] of lines.entries()) {
      this.painted(`${this.#color.dim(index === 0 ? at : " ".repeat(at.length))}${this.#color.cyan(line)}`);
    }
  }

  #output({ output }: BlockTally): void {
    if (output !== "") this.#indented(visibleText(output), this.#color.dim);
  }

  #result({ block, result }: Extract<QueryEvent, { type: "block_finished" }>): void {
    const shown = this.#progress.step?.blocks[block] ?? newBlock();
    const { tally } = shown;
    const { lines, refused } = blockLine({ ...shown, result });
    for (const { state, text } of tally.failed || refused ? lines : []) {
      this.#indented(this.#marked(state, oneLine(visibleText(text), 300)));
    }
    this.#output(tally);
    const time = this.#color.dim(` ${durationText(result.ms)}`);
    if (result.stdout) this.#indented(visibleText(result.stdout.trimEnd()), this.#color.dim);
    if (refused) return;
    if (result.ok) {
      const value = result.outcome === "none" ? "" : visibleText(result.preview).slice(0, MOST_RESULT);
      return this.#indented(`${this.#color.green("✓")} ${value}${time}`);
    }
    this.#indented(`${this.#color.red("✗")} ${failureText(result)}${time}`);
  }

  #diff(diff: string): void {
    const width = this.#io.stderrIsTerminal ? this.#width() - 5 : Infinity;
    const place = { width, ...this.#verbose ? { most: 400 } : {} };
    for (const line of this.#drawChange?.(diff, place) ?? []) this.painted(`    ${line}`);
  }

  #indented(text: string, paint: (text: string) => string = (same) => same): void {
    for (const line of text.split("\n")) this.painted(`    ${paint(line)}`);
  }

  #finished(at: string, event: Extract<QueryEvent, { type: "iteration_finished" }>): void {
    const ran = this.#progress.step?.blocks.some(({ result }) => result !== null) ?? false;
    if (event.outcome === "failed" && ran) return this.#waiting();
    if (event.outcome === "failed") this.#held = { at, reason: event.reason ?? "" };
    else if (event.outcome === "refused") this.#unused(at, `answer refused: ${event.reason ?? ""}`);
    else if (event.outcome === "empty") {
      this.painted(this.#color.dim(`${at}${oneLine(visibleText(event.reason ?? "empty reply"), 220)}`));
    } else if (event.reason !== null) this.#unused(at, event.reason);
    if (event.outcome !== "final") this.#waiting();
  }

  #release(event: QueryEvent): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    if (!isChild(event) && event.type === "failed" && event.result.answer.includes(held.reason)) return;
    this.#unused(held.at, `no usable reply: ${held.reason}`);
  }

  #unused(at: string, text: string): void {
    this.painted(`${this.#color.dim(at)}${this.#color.yellow(oneLine(visibleText(text), 220))}`);
  }
}

const MOST_FAILURE = { lines: 10, chars: 300 };

function failureText(result: BlockResult): string {
  const lines = visibleText(blockFailure(result)).trimEnd().split("\n");
  const shown = lines.slice(0, MOST_FAILURE.lines).map((line) => clip(line, MOST_FAILURE.chars));
  return [...shown, ...lines.length > shown.length ? [`… ${counted(lines.length - shown.length, "more line")}`] : []]
    .join("\n");
}

const TICK_MS = 1_000;

const SHOWN_FROM_MS = 2_000;

export class LiveLines {
  readonly #write: (text: string) => void;
  readonly #width: () => number;
  readonly #paint: (text: string) => string;
  readonly #now: () => number;
  readonly #time: () => string;
  #text = "";
  #above: readonly string[] = [];
  #since = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor({ write, width, paint, now = Date.now, time = () => "" }: {
    readonly write: (text: string) => void;
    readonly width: () => number;
    readonly paint: (text: string) => string;
    readonly now?: () => number;
    readonly time?: () => string;
  }) {
    this.#write = write;
    this.#width = width;
    this.#paint = paint;
    this.#now = now;
    this.#time = time;
  }

  show(text: string, above: readonly string[] = []): void {
    const line = oneLine(visibleText(text), this.#width() - 1);
    if (line === this.#text && sameLines(above, this.#above)) return;
    const since = line === this.#text ? this.#since : this.#now();
    const kept = this.#text === "" ? 0 : sharedLines(above, this.#above);
    const from = this.#text === "" ? "" : startOf(this.#above.length - kept);
    this.#stop();
    this.#write([from, ...above.slice(kept).map((one) => `${one}\n`), this.#paint(line)].join(""));
    [this.#text, this.#above, this.#since] = [line, above, since];
    this.#timer = setInterval(() => this.tick(), TICK_MS);
  }

  tick(): void {
    const ms = this.#now() - this.#since;
    if (this.#text === "" || ms < SHOWN_FROM_MS) return;
    const time = ` ${this.#time() || runningText(ms)}`;
    this.#write(`\r\x1b[2K${this.#paint(`${oneLine(this.#text, this.#width() - 1 - time.length)}${time}`)}`);
  }

  clear(): void {
    this.#stop();
    if (this.#text !== "") this.#write(startOf(this.#above.length));
    [this.#text, this.#above] = ["", []];
  }

  #stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

function startOf(lines: number): string {
  return lines === 0 ? "\r\x1b[2K" : `\r\x1b[${lines}A\x1b[J`;
}

function sharedLines(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((line, at) => line !== other[at]);
  return differs < 0 ? one.length : differs;
}

function sameLines(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && sharedLines(one, other) === one.length;
}

import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import type { Conversations } from "../../../conversation/conversations.ts";
import { messageOf } from "../../../domain/errors.ts";
import { clip, counted, durationText, oneLine, visibleText } from "../../../domain/kit/text.ts";
import { BlockTally, type CallLine, type Measure, storedDiffs, withMark } from "../../../domain/query/host_call.ts";
import { outcomeOf } from "../../../domain/query/outcomes.ts";
import { beginsWithPlan } from "../../../domain/query/plan.ts";
import {
  blockFailure,
  blockLine,
  boundedResult,
  LOST_BLOCKS,
  newBlock,
  newStep,
  onlyAnswers,
  type Step,
  type StepBlock,
  type StepChild,
  storedAsked,
  storedChildren,
} from "../../../domain/query/query_progress.ts";
import type { BlockResult } from "../../../domain/query/query_schemas.ts";
import { diffLines, SHOWN_DIFF_LINES } from "../../../markdown/terminal/diff_lines.ts";
import { fitted, flat } from "../text/one_line.ts";
import { brokenLine, cutWide, moreLines, wrapped } from "../text/wrapped.ts";
import { type DisplayOptions, DrawnEntry, type TranscriptEntry } from "./entry.ts";
import { requestLines } from "./message_entries.ts";

const MOST = { thinking: 8, chars: 500, code: 16, failure: 10 } as const;
const WHOLE = 2_000;
const LINE_CHARS = 1_000;
const CODE_CHARS = 200_000;
const COLUMNS: Measure = { length: visibleWidth, cut: (text, most) => fitted(text, { width: most }) };

function fittedLine(text: string, width: number): string {
  return fitted(flat(text, LINE_CHARS), { width });
}

export class StepEntry extends DrawnEntry {
  #step: Step;
  readonly #shown: () => DisplayOptions;

  constructor(step: Step, shown: () => DisplayOptions) {
    super();
    this.#step = step;
    this.#shown = shown;
  }

  get step(): Step {
    return this.#step;
  }

  change(step: Step): void {
    this.#step = step;
    this.grown();
  }

  /** Below the step, the answer of a failed query repeats the reason of its last step. */
  endsWith(answer: string): this {
    const { step } = this;
    if (step.outcome === "failed" && step.reason !== null && answer.includes(step.reason)) step.reason = null;
    this.grown();
    return this;
  }

  protected draw(width: number): readonly string[] {
    const shown = this.#shown();
    const { step } = this;
    const label = "sent while running";
    const said = step.steered.flatMap((text) => requestLines(text, { label, width, shown }));
    if (shown.prefs.iterations) return [...said, ...this.#work(width, shown)];
    return [...said, ...step.asked.flatMap((text) => [...askedLines(text, { width, shown }), ""])];
  }

  #work(width: number, shown: DisplayOptions): readonly string[] {
    const { step } = this;
    const number = `${step.number} `;
    const room = width - number.length;
    const lines = [
      ...this.#thinking(room, shown),
      ...step.asked.flatMap((text) => askedLines(text, { width: room, shown })),
      ...step.blocks.flatMap((block) => this.#block(block, { width: room, shown })),
      ...step.children.map((child) => childLine(child, { width: room, shown })),
      ...this.#end(room, shown),
    ];
    if (lines.length === 0) return [];
    const margin = " ".repeat(number.length);
    return [...lines.map((line, index) => `${index === 0 ? shown.theme.dim(number) : margin}${line}`), ""];
  }

  #thinking(width: number, { theme, prefs, whole }: DisplayOptions): readonly string[] {
    const text = this.step.thinking.trim();
    if (text === "" || !prefs.thinking) return [];
    const lines = this.step.outcome !== null && !whole
      ? [truncateToWidth(oneLine(visibleText(text), MOST.chars), width, "…")]
      : wrapped(text, width, { most: whole ? WHOLE : MOST.thinking });
    return lines.map((line) => theme.dim(theme.italic(line)));
  }

  #block(
    block: StepBlock,
    { width, shown }: { readonly width: number; readonly shown: DisplayOptions },
  ): readonly string[] {
    const { theme, whole } = shown;
    const { code, result, printing, diffs } = block;
    if (!whole && onlyAnswers(block)) return [];
    if (result !== null && !whole) return foldedBlock(block, { result, width, shown });
    const lines = codeLines(code, { width: width - 2, shown }).map((line) => `${theme.dim("│")} ${line}`);
    const changed = changeLines(diffs, { width, shown });
    if (result === null) {
      const { done, now } = workLines(block, width);
      const printed = printing === "" ? [] : visibleText(printing).replaceAll("\t", "    ").split("\n");
      return [
        ...done.length + now.length > 0 && !whole ? [] : lines,
        ...done.map(theme.dim),
        ...changed,
        ...now.map(theme.dim),
        ...printed.map((line) => theme.dim(`  ${truncateToWidth(line, width - 2, "…")}`)),
      ];
    }
    const { ok, refused, lines: told } = blockLine(block, width - 2, COLUMNS);
    const marked = told.map(({ state, text }) => markedLine(state, fittedLine(text, width - 2), theme));
    if (refused) {
      return [...lines, ...changed, ...marked, ...outputLines(block, { width, shown })];
    }
    const mark = ok ? theme.ok("✓") : theme.bad("✗");
    const time = theme.dim(` ${durationText(result.ms)}`);
    const calls = block.tally.failed ? [...marked, ...outputLines(block, { width, shown })] : [];
    const [first = "", ...rest] = resultLines(result, { width: width - 2, most: WHOLE, theme });
    const main = brokenLine(`${first === "" ? mark : `${mark} ${first}`}${time}`, width);
    return [...lines, ...changed, ...calls, ...main, ...rest.map((line) => `  ${line}`)];
  }

  #end(width: number, { theme }: DisplayOptions): readonly string[] {
    const { outcome, reason, blocks } = this.step;
    if (outcome === "refused" || (outcome === "failed" && blocks.every(({ result }) => result === null))) {
      if (outcome === "failed" && reason === null) return [];
      const what = outcome === "failed" ? "no usable reply" : "answer refused";
      return wrapped(`${what}: ${oneLine(reason ?? "", 400)}`, width).map(theme.warn);
    }
    const told = outcome === "empty"
      ? reason ?? "an empty reply"
      : outcome === "executed" || outcome === null
      ? reason ?? ""
      : "";
    if (told === "") return [];
    return wrapped(oneLine(told, 400), width).map(reason === null ? theme.dim : theme.warn);
  }
}

function askedLines(text: string, { width, shown }: Place): readonly string[] {
  return wrapped(shown.whole ? text : shortQuestion(text, width * 2), width).map(shown.theme.dim);
}

function shortQuestion(text: string, most: number): string {
  const at = Math.max(text.lastIndexOf("? "), text.lastIndexOf(" · ")) + 1;
  return shortened(text.slice(0, at), Math.max(most / 2, most - (text.length - at))) + text.slice(at);
}

function foldedBlock(
  block: StepBlock,
  { result, width, shown }: Place & { readonly result: BlockResult },
): readonly string[] {
  const { theme } = shown;
  const time = durationText(result.ms);
  const room = Math.max(1, width - time.length - 3);
  const { lines, isCode, refused, threw } = blockLine(block, room, COLUMNS);
  const marked = lines.map(({ state, text }) => {
    const line = fittedLine(text, room);
    return markedLine(state, isCode && state !== "refused" ? theme.code(line).join(" ") : line, theme);
  });
  if (refused) {
    const changed = changeLines(block.diffs, { width, shown });
    return [...marked, ...outputLines(block, { width, shown }), ...changed];
  }
  const reason = result.ok ? block.tally.reason : blockFailure(result);
  const why = reason === "" ? [] : wrapped(reason, width - 2, { most: MOST.failure });
  const changed = changeLines(block.diffs, { width, shown });
  return [
    ...marked.with(-1, `${marked.at(-1)} ${theme.dim(time)}`),
    ...why.map((one, at) => `${threw && at === 0 ? theme.bad("✗") : " "} ${theme.bad(one)}`),
    ...outputLines(block, { width, shown }),
    ...changed,
  ];
}

function markedLine(state: CallLine["state"], line: string, theme: DisplayOptions["theme"]): string {
  if (state === "refused") return theme.dim(`– ${line}`);
  return `${state === "ok" ? theme.ok("✓") : theme.bad("✗")} ${line}`;
}

function workLines({ code, calling, tally }: StepBlock, width: number): Readonly<Record<"done" | "now", string[]>> {
  const line = (text: string): string => truncateToWidth(visibleText(text), width, "…");
  if (calling === "" && tally.text === "") {
    return { done: [], now: beginsWithPlan(code) ? ["▸ planning the tasks …"] : [] };
  }
  return {
    done: tally.linesWithin(width - 2, COLUMNS).map((calls) => line(withMark(calls))),
    now: calling === "" ? [] : [line(`▸ ${calling} …`)],
  };
}

function outputLines({ tally }: StepBlock, { width, shown: { theme } }: Place): readonly string[] {
  if (tally.output === "") return [];
  return wrapped(tally.output, width - 4).map((line) => `  ${theme.bad("│")} ${theme.dim(line)}`);
}

type Place = { readonly width: number; readonly shown: DisplayOptions };

function codeLines(code: string, { width, shown }: Place): readonly string[] {
  const most = shown.whole ? WHOLE : MOST.code;
  const all = code.trimEnd().slice(0, CODE_CHARS).split("\n");
  const kept = all.length > most ? all.slice(0, most - 1) : all;
  const text = visibleText(kept.join("\n")).replaceAll("\t", "    ");
  const lines = shown.theme.code(text).flatMap((line) => brokenLine(line, Math.max(1, width)));
  const rest = all.length - kept.length;
  return rest > 0 ? [...lines, shown.theme.dim(truncateToWidth(moreLines(rest, { most }), width, "…"))] : lines;
}

function changeLines(diffs: readonly string[], { width, shown: { theme, whole } }: Place): readonly string[] {
  const most = whole ? WHOLE : SHOWN_DIFF_LINES;
  const place = {
    width: width - 2,
    paint: theme.markdown,
    columns: visibleWidth,
    most,
    more: (count: number) => moreLines(count, { most }),
  };
  return diffs.flatMap((diff) => cutWide(diffLines(diff, place), place.width)).map((line) => `  ${line}`);
}

function resultLines(
  result: BlockResult,
  { width, most, theme }: { readonly width: number; readonly most: number; readonly theme: DisplayOptions["theme"] },
): readonly string[] {
  const { error, outcome, stdout, stderr, preview } = result;
  const printed = [stdout, stderr].map((text) => text.trimEnd()).filter((text) => text !== "").join("\n");
  const value = error ? blockFailure(result) : preview || (outcome === "value" ? "" : outcome);
  const main = wrapped(value === "none" ? "" : value, width - 8, { most });
  const beside = printed === "" ? [] : wrapped(printed, width, { most });
  const excerpt = error?.excerpt ? wrapped(error.excerpt, width, { most: 4 }) : [];
  return [...main.map(error ? theme.bad : (line) => line), ...excerpt.map(theme.dim), ...beside.map(theme.dim)];
}

function childLine({ task, iteration, done }: StepChild, { width, shown: { theme } }: Place): string {
  const mark = done === null ? "…" : done.ok ? theme.ok("✓") : theme.bad("✗");
  const text = done === null ? "" : ` ${oneLine(visibleText(done.text), 200)}`;
  return truncateToWidth(
    `${theme.dim(`↳ ${oneLine(visibleText(task), 80)} (${iteration})`)} ${mark}${text}`,
    width,
    "…",
  );
}

const PAGE = 40;

export interface OlderParts {
  readonly conversations: Conversations;
  readonly shown: () => DisplayOptions;
  readonly replace: (entry: TranscriptEntry, entries: readonly TranscriptEntry[]) => void;
  /** The answer of the ended query. */
  readonly answer?: string;
}

export class OlderEntry extends DrawnEntry {
  readonly #queryId: string;
  readonly #range: { readonly from: number; readonly to: number };
  readonly #parts: OlderParts;
  #asked = false;
  #problem = "";

  constructor(queryId: string, range: { readonly from: number; readonly to: number }, parts: OlderParts) {
    super();
    this.#queryId = queryId;
    this.#range = range;
    this.#parts = parts;
  }

  get range(): { readonly from: number; readonly to: number } {
    return this.#range;
  }

  get pending(): boolean {
    return this.#asked && this.#problem === "";
  }

  seen(side: "above" | "below"): void {
    if (this.#asked || !this.#parts.shown().prefs.iterations) return;
    this.#asked = true;
    void this.#replace(side).catch((error: unknown) => {
      this.#problem = messageOf(error);
      this.invalidate();
    });
  }

  protected draw(width: number): readonly string[] {
    const { theme, prefs } = this.#parts.shown();
    if (!prefs.iterations) return [];
    const count = this.#range.to - this.#range.from;
    const text = this.#problem || `… ${counted(count, "step")}`;
    return [theme.dim(fittedLine(text, width)), ""];
  }

  async #replace(side: "above" | "below"): Promise<void> {
    this.#parts.replace(this, await this.read(side));
  }

  async read(side: "above" | "below" = "below"): Promise<readonly TranscriptEntry[]> {
    const { from, to } = this.#range;
    const { conversations, shown, answer = "" } = this.#parts;
    const first = side === "above" ? from : Math.max(from, to - PAGE);
    const limit = Math.min(PAGE, to - first);
    const rows = await conversations.iterations(this.#queryId, { after: first - 1, limit });
    const steps = rows.map((row) => new StepEntry(storedStep(row), shown).endsWith(answer));
    const rest = (range: { readonly from: number; readonly to: number }): OlderEntry[] =>
      range.from < range.to ? [new OlderEntry(this.#queryId, range, this.#parts)] : [];
    return [...rest({ from, to: first }), ...steps, ...rest({ from: first + limit, to })];
  }
}

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

const MOST_CHARS = 20_000;

export function storedStep(iteration: StoredIteration): Step {
  const { position, steered, thinking, blocks, error, metadata, status } = iteration;
  const outcome = outcomeOf(metadata) ?? (status === "error" ? "failed" : null);
  const pending = Array.isArray(metadata["pendingBlocks"]) && blocks.length === 0 ? metadata["pendingBlocks"] : [];
  return {
    ...newStep(position + 1),
    steered: steered.map((text) => clip(text, MOST_CHARS)),
    thinking: clip(thinking, MOST_CHARS),
    blocks: [
      ...blocks.map(({ code, result }, at) => ({
        ...newBlock(),
        code: clip(code, MOST_CHARS),
        tally: BlockTally.of(result.calls),
        diffs: storedDiffs(metadata, at),
        result: boundedResult(result),
      })),
      ...pending.map((code) => ({ ...newBlock(), code: clip(String(code), MOST_CHARS) })),
    ],
    children: storedChildren(metadata),
    asked: storedAsked(metadata),
    outcome,
    // The line about the end of the query already shows why Vis interrupted the block.
    reason: status !== "interrupted" ? error : pending.length > 0 ? LOST_BLOCKS : null,
  };
}

function shortened(text: string, limit: number): string {
  const half = Math.floor(limit / 2) - 1;
  return text.length <= limit ? text : `${text.slice(0, half)}…${text.slice(-half)}`.toWellFormed();
}

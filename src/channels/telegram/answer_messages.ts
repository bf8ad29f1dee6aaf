import { clip, counted, harmlessText, oneLine } from "../../domain/kit/text.ts";
import { aboutText } from "../../domain/query/model_call.ts";
import { shownAnswer } from "../../domain/query/outcomes.ts";
import { withMark } from "../../domain/query/host_call.ts";
import { blockFailure, blockLine, type QueryProgress, type StepBlock } from "../../domain/query/query_progress.ts";
import type { QueryResult } from "../../domain/query/query_schemas.ts";
import type { PendingMessage } from "./inbox.ts";
import type { MessageButton, Messenger } from "./messenger.ts";
import type { ChatPlace } from "./read_update.ts";
import { renderMarkdown, type RichMessage, RichText, splitRichText } from "./rich_text.ts";

const MAX_CHARS = 4096;
const MAX_PARTS = 20;
const TEASER_CHARS = 160;
const EMPTY: RichMessage = { text: "…", entities: [] };
const BELOW: RichMessage = { text: "✅ Answered below", entities: [] };

interface ReplyOptions {
  readonly place: ChatPlace;
  readonly replyTo: number | null;
  readonly messenger: Messenger;
  readonly ids: readonly number[];
  readonly progress: PendingMessage["progress"];
  readonly save: (change: Pick<PendingMessage, "replies" | "progress">) => Promise<void>;
}

/** The bot stores the id of each message before it sends the whole text, so that a restart repeats no part. Only a
 * replacement for a deleted message has its text from the start. */
export class AnswerMessages {
  readonly #options: ReplyOptions;
  #ids: readonly number[];
  #progress: PendingMessage["progress"];
  #shown = "";

  constructor(options: ReplyOptions) {
    this.#options = options;
    this.#ids = options.ids;
    this.#progress = options.progress;
  }

  async open(text: string): Promise<void> {
    if (this.#ids.length === 0 && this.#progress === undefined) await this.#make({ text, entities: [] });
    this.#shown = text;
  }

  async progress(text: string): Promise<void> {
    const messageId = this.#first;
    if (messageId === undefined || text === this.#shown) return;
    this.#shown = text;
    await this.#options.messenger.progress(this.#options.place, { messageId, text });
  }

  async pause(text: string): Promise<void> {
    const { messenger, place } = this.#options;
    const messageId = this.#first;
    if (messageId !== undefined) await messenger.edit(place, { messageId, message: { text, entities: [] } });
  }

  async finish(
    whole: RichText,
    { anew = false, buttons = [] }: { readonly anew?: boolean; readonly buttons?: readonly MessageButton[] } = {},
  ): Promise<void> {
    const parts = splitRichText(whole, MAX_CHARS);
    const shown = parts.slice(0, MAX_PARTS);
    if (shown.length < parts.length) {
      shown.push(new RichText().add(clip(leftOut(parts.length - shown.length), MAX_CHARS)));
    }
    await this.#choose(anew);
    for (const [at, part] of shown.entries()) {
      await this.#fill(at, part.message(), at === shown.length - 1 ? buttons : []);
    }
    const { messenger, place } = this.#options;
    if (typeof this.#progress !== "number" || await messenger.remove(place, this.#progress)) return;
    await messenger.edit(place, { messageId: this.#progress, message: BELOW });
  }

  get #first(): number | undefined {
    return this.#progress ?? this.#ids[0];
  }

  /** An earlier process may have written a part of the answer, so the bot keeps its first choice. */
  async #choose(anew: boolean): Promise<void> {
    if (this.#progress !== undefined) return;
    const [first] = this.#ids;
    this.#progress = anew && first !== undefined ? first : null;
    if (this.#progress !== null) this.#ids = [];
    await this.#save();
  }

  async #fill(at: number, message: RichMessage, buttons: readonly MessageButton[]): Promise<void> {
    const { messenger, place } = this.#options;
    const messageId = this.#ids[at] ?? await this.#make(at === 0 ? teaser(message) : EMPTY);
    if (await messenger.edit(place, { messageId, message, buttons })) return;
    const made = await messenger.send(place, message, { silent: at > 0, buttons });
    this.#ids = this.#ids.map((id, n) => n === at ? made : id);
    await this.#save();
  }

  async #make(message: RichMessage): Promise<number> {
    const { messenger, place, replyTo } = this.#options;
    const first = this.#ids.length === 0;
    const id = await messenger.send(place, message, first ? { replyTo } : { silent: true });
    this.#ids = [...this.#ids, id];
    await this.#save();
    return id;
  }

  async #save(): Promise<void> {
    const progress = this.#progress;
    await this.#options.save({ replies: this.#ids, ...(progress === undefined ? {} : { progress }) });
  }
}

function leftOut(count: number): string {
  return `(${counted(count, "more part")} ${count === 1 ? "is" : "are"} not shown; see vis conversations show)`;
}

/** A notification shows the first text of a message, so this text is the beginning of the answer. */
function teaser({ text }: RichMessage): RichMessage {
  return { text: `${oneLine(text, TEASER_CHARS)} …`, entities: [] };
}

function footer(
  { iterations, ms, usage, costUsd }: Pick<QueryResult, "iterations" | "ms" | "usage" | "costUsd">,
  model: string,
): string {
  return [
    counted(iterations, "step"),
    `${(ms / 1000).toFixed(1)} s`,
    model,
    `${aboutText(usage)}${tokens(usage.input)} → ${tokens(usage.output)} tokens`,
    costUsd === null ? "price unknown" : `${aboutText(usage)}$${costUsd.toFixed(4)}`,
  ].join(" · ");
}

function tokens(count: number): string {
  return count < 10_000 ? `${count}` : `${(count / 1000).toFixed(1)}k`;
}

export function resultText(
  result: Omit<QueryResult, "queryId" | "conversationId" | "confidence" | "value">,
  { model }: { readonly model: string },
): RichText {
  if (result.reason === "cancelled") return new RichText().add("⏹ Cancelled");
  const answer = shownAnswer(result);
  const text = result.answerType === "markdown" ? renderMarkdown(answer) : plain(answer);
  const whole = new RichText();
  if (result.status !== "done") whole.add("⚠️ ");
  for (const run of text.runs) whole.add(run.text, run.spans);
  const { text: work = "" } = result.work ?? {};
  if (work !== "") whole.add("\n\n").add(harmlessText(work), [{ type: "italic" }]);
  return whole.add("\n\n").add(footer(result, model), [{ type: "italic" }]);
}

function plain(answer: string): RichText {
  return new RichText().add(harmlessText(answer.toWellFormed()).trimEnd());
}

const SHOWN_CHARS = 3_000;

export function progressView(progress: QueryProgress, ms: number): string {
  const { step } = progress;
  const answer = progress.answer || progress.draft;
  const head = `⏳ step ${step?.number ?? 1} · ${Math.round(ms / 1000)} s`;
  if (answer !== "") return `${head}\n\n${tail(harmlessText(answer))}`;
  const doing = doingOf(progress);
  const lines = [
    oneLine(harmlessText(step?.thinking.slice(0, SHOWN_CHARS) ?? ""), 300),
    ...(step?.blocks ?? []).flatMap(failuresOf),
    doing && `▸ ${doing}`,
  ];
  return [head, ...lines.filter((line) => line !== "")].join("\n").toWellFormed();
}

function failuresOf(block: StepBlock): readonly string[] {
  const { lines, isCode, ok, refused, threw } = blockLine(block);
  if (block.result === null || ok || refused) return [];
  const why = block.result.ok ? "" : blockFailure(block.result);
  const calls = isCode ? [] : lines.filter(({ state }) => state === "failed").map(withMark);
  const failed = [...calls, why !== "" && (isCode || threw) ? `✗ ${why}` : why];
  return failed.map((line) => oneLine(harmlessText(line), 300));
}

function doingOf({ phase, doing, question, step, block }: QueryProgress): string {
  if (phase === "delayed" || question !== null) return doing;
  if (!["running", "calling", "child"].includes(phase)) return "";
  const { code = "", calling = "" } = step?.blocks[block] ?? {};
  if (/^(?:await )?answer\(/.test(code.trimStart())) return "";
  return calling === "" ? firstLine(code) : oneLine(harmlessText(calling), 120);
}

function firstLine(code: string): string {
  return oneLine(harmlessText(code.split("\n").find((line) => line.trim() !== "") ?? ""), 120);
}

function tail(text: string): string {
  if (text.length <= SHOWN_CHARS) return text.toWellFormed();
  return `…${text.slice(-SHOWN_CHARS).replace(/^[\udc00-\udfff]/, "")}`.toWellFormed();
}

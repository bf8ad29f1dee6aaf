import { Buffer } from "node:buffer";
import { jsonOrUndefined } from "../../domain/kit/json.ts";
import type { WebSource } from "../../domain/query/model_call.ts";
import type { Usage } from "../../domain/query/query_schemas.ts";
import { type ModelEvent, tokensInBytes } from "../provider.ts";

/** A service that reports a larger count for one call is faulty. */
const MAX_TOKENS = 100_000_000;
const MAX_WHOLE = 2_000_000;
const MAX_CALL = 300;
const MAX_SOURCES = 50, MAX_URL = 4_000, MAX_TITLE = 1_000;
/** A shorter reply may be the beginning of the next piece by chance. */
const SURELY_REPEATED = 16;

export class ReplyBuilder {
  model: string;
  finish: string | null = null;
  isWhole = false;
  isDeclined = false;
  failure: unknown = null;
  tail = "";
  understood = 0;
  #pending: ModelEvent[] = [];
  #hasText = false;
  #hasReasoning = false;
  #whole: { readonly kind: "text" | "reasoning"; readonly text: string }[] = [];
  #call: { readonly name: string; input: string; isOver: boolean } | null = null;
  /** A service may cite only some of the pages that it found. */
  readonly #sources = { cited: new Map<string, string>(), found: new Map<string, string>() };
  /** Some services send the finish reason too early, and text follows the finish reason. */
  #wentOn = false;
  readonly #size = new ReplySize();
  readonly #sentTokens: number;
  #counts: { readonly [K in Count]?: number } = {};
  #bytes = 0;
  #countedBytes = 0;
  readonly #oddities = new Map<string, string>();
  readonly #half = { text: "", reasoning: "" };
  /** Some services repeat the whole text so far in each piece. */
  readonly #said = { text: "", reasoning: "" };

  constructor(model: string, sentTokens: number) {
    this.model = model;
    this.#sentTokens = sentTokens;
  }

  /** Estimates replace missing counts of input or output, and raise an output count that came before the end of the
   * output. */
  get usage(): Usage {
    const { input = 0, output = 0, cached = 0, reasoning = 0, cacheWrite, searches = 0 } = this.#counts;
    const heard = tokensInBytes(this.#bytes);
    const isCounted = output > 0 && this.#countedBytes === this.#bytes;
    const estimate = { input: input || this.#sentTokens, output: isCounted ? output : Math.max(output, heard) };
    const isEstimated = estimate.input !== input || estimate.output !== output;
    return {
      ...estimate,
      cached: Math.min(cached, estimate.input),
      ...(cacheWrite === undefined ? {} : { cacheWrite }),
      ...{ reasoning, calls: 1 },
      ...(searches > 0 ? { searches } : {}),
      ...(isEstimated ? { estimated: 1 } : {}),
    };
  }

  /** Some services begin with a finish reason, so the reply is over only after text. */
  get isOver(): boolean {
    return this.finish !== null && this.#hasText && !this.#wentOn;
  }

  /** A reply that is one JSON object is complete even if the service signals no end. */
  get isWholeJson(): boolean {
    const { text } = this.#said;
    return /^\s*\{/.test(text) && jsonOrUndefined(text) !== undefined;
  }

  get toolCall(): string | null {
    if (this.#call === null) return null;
    const { name, input } = this.#call;
    return (input === "" ? name : `${name}(${input})`).slice(0, MAX_CALL).toWellFormed();
  }

  get tooLong(): string | null {
    return this.#size.fault;
  }

  get oddities(): readonly string[] {
    return [...this.#oddities].map(([name, value]) => `${name}: ${value}`);
  }

  take(): readonly ModelEvent[] {
    const events = this.#pending;
    this.#pending = [];
    return events;
  }

  close(): void {
    this.#size.close();
  }

  servedBy(model: unknown): void {
    if (typeof model === "string" && model !== "") this.model = model;
  }

  /** With `isMessage`, the piece is a message of its own, or the whole message so far. */
  text(delta: unknown, { isMessage = false } = {}): void {
    const whole = this.#joined("text", delta, isMessage);
    this.tail = (this.tail + whole).slice(-500);
    if (whole === "") return;
    this.#hasText = true;
    this.#pending.push({ type: "text", delta: whole });
  }

  reasoning(delta: unknown, { isMessage = false } = {}): void {
    const whole = this.#joined("reasoning", delta, isMessage);
    if (whole === "") return;
    this.#hasReasoning = true;
    this.#pending.push({ type: "reasoning", delta: whole });
  }

  whole(kind: "text" | "reasoning", text: unknown): void {
    if (typeof text !== "string" || text === "" || this.#hasText) return;
    const last = this.#whole.at(-1);
    if (last?.kind === kind && text.startsWith(last.text)) this.#whole.pop();
    if (this.#whole.reduce((sum, part) => sum + part.text.length, 0) < MAX_WHOLE) this.#whole.push({ kind, text });
  }

  forgetWhole(): void {
    this.#whole = [];
  }

  takeWhole(): void {
    const parts = this.#hasText ? [] : this.#whole;
    const hasReasoning = this.#hasReasoning;
    this.#whole = [];
    for (const { kind, text } of parts) {
      if (kind === "text") this.text(text);
      else if (!hasReasoning) this.reasoning(text);
    }
  }

  call({ name, input }: { readonly name?: unknown; readonly input?: unknown }): void {
    if (typeof name === "string" && name !== "") {
      if (this.#call !== null && name !== this.#call.name) this.#call.isOver = true;
      if (this.#call === null) this.#bytes += Buffer.byteLength(name);
      this.#call ??= { name, input: "", isOver: false };
    }
    const call = this.#call;
    if (call === null || input === undefined || input === null) return;
    const piece = typeof input === "string" ? input : JSON.stringify(input);
    this.#bytes += Buffer.byteLength(piece);
    if (!call.isOver && call.input.length <= MAX_CALL) call.input += piece.slice(0, MAX_CALL);
  }

  get sources(): readonly WebSource[] {
    const { cited, found } = this.#sources;
    return [...cited.size > 0 ? cited : found].map(([url, title]) => ({ title, url }));
  }

  source({ url, title }: { readonly url?: unknown; readonly title?: unknown }, { isCited = true } = {}): void {
    const kept = isCited ? this.#sources.cited : this.#sources.found;
    if (typeof url !== "string" || url === "" || url.length > MAX_URL || kept.size >= MAX_SOURCES) return;
    const known = kept.get(url) ?? "";
    if (known === "") kept.set(url, typeof title === "string" ? title.slice(0, MAX_TITLE).toWellFormed() : "");
  }

  searched(): void {
    this.#counts = { ...this.#counts, searches: (this.#counts.searches ?? 0) + 1 };
  }

  paragraph(): void {
    if (this.#hasText && !this.#said.text.endsWith("\n")) this.text("\n\n");
  }

  refusal(delta: unknown): void {
    if (typeof delta !== "string" || delta === "") return;
    this.tail = (this.tail + delta).slice(-500);
    this.#bytes += Buffer.byteLength(delta);
    this.isDeclined = true;
  }

  decline(why: string): void {
    if (this.tail === "") this.tail = why;
    this.isDeclined = true;
    this.finish ??= "content-filter";
  }

  /** The value of a list is its sum, and an impossible value has no effect. For each event, the caller must call this
   * method last, because an output count covers the output up to the call. */
  count(counts: { readonly [K in Count]?: unknown }): void {
    const read = Object.entries(counts).map(([name, value]) => [name, this.#tokens(name, value)] as const);
    const known = Object.fromEntries(read.filter(([, count]) => count !== null));
    this.#counts = { ...this.#counts, ...known };
    if ("output" in known) this.#countedBytes = this.#bytes;
  }

  #tokens(name: string, value: unknown): number | null {
    const said = (Array.isArray(value) ? value : [value]).filter((count) => count !== undefined && count !== null);
    if (said.length === 0) return null;
    const counts = said.map(countIn).filter((count) => count !== null);
    if (counts.length === said.length) return counts.reduce((sum, count) => sum + count, 0);
    this.#oddities.set(name, String(said.find((count) => countIn(count) === null)).slice(0, 40));
    return null;
  }

  #joined(kind: "text" | "reasoning", piece: unknown, isMessage: boolean): string {
    if (typeof piece !== "string" || piece === "") return "";
    const said = this.#said[kind];
    const isRepeated = isMessage
      ? piece.startsWith(said)
      : said.length >= SURELY_REPEATED && piece.length > said.length && piece.startsWith(said);
    const delta = isRepeated ? piece.slice(said.length) : piece;
    if (delta === "") return "";
    this.#said[kind] += delta;
    this.#size.add(delta.length);
    this.#bytes += Buffer.byteLength(delta);
    if (this.tooLong !== null) return "";
    if (this.finish !== null) this.#wentOn = true;
    const text = this.#half[kind] + delta;
    const isHalf = /[\ud800-\udbff]$/.test(text);
    this.#half[kind] = isHalf ? text.slice(-1) : "";
    return isHalf ? text.slice(0, -1) : text;
  }
}

type Count = Exclude<keyof Usage, "calls" | "estimated">;

function countIn(value: unknown): number | null {
  const count = typeof value === "string" && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : value;
  return typeof count === "number" && count >= 0 && count <= MAX_TOKENS ? Math.ceil(count) : null;
}

const MOST = 1_000_000;
const MOST_OF_ALL = 8_000_000;

const ALL = { replies: 0, chars: 0 };

export class ReplySize {
  #chars = 0;

  constructor() {
    ALL.replies++;
  }

  add(chars: number): void {
    this.#chars += chars;
    ALL.chars += chars;
  }

  /** If the simultaneous replies together are too large, a reply above its share has a fault. */
  get fault(): string | null {
    if (this.#chars > MOST) return "it has more than 1 million characters";
    const share = MOST_OF_ALL / ALL.replies;
    if (ALL.chars <= MOST_OF_ALL || this.#chars <= share) return null;
    return `it has more than ${Math.floor(share)} characters while ${ALL.replies - 1} other replies arrive`;
  }

  /** The caller must call this method once, when the reply has arrived or broken off. */
  close(): void {
    ALL.replies--;
    ALL.chars -= this.#chars;
  }
}

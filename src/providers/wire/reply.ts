import type { Usage } from "../../domain/usage.ts";
import { NO_USAGE } from "../../domain/usage.ts";
import type { ModelEvent } from "../provider.ts";

/** What came of one reply so far, in no service's words. A wire writes it, the provider reads it. */
export class Reply {
  #model: string;
  #pending: ModelEvent[] = [];
  #usage: Usage = { ...NO_USAGE, calls: 1 };
  #finish: string | null = null;
  #isWhole = false;
  #isDeclined = false;
  #failure: unknown = null;
  #tail = "";
  /** The first half of a character whose second half comes with the next piece. */
  readonly #half = { text: "", reasoning: "" };
  #understood = 0;

  constructor(model: string) {
    this.#model = model;
  }

  /** The model that served. */
  get model(): string {
    return this.#model;
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** Why it ended; null while it did not. */
  get finish(): string | null {
    return this.#finish;
  }

  /** The stream said that nothing follows. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The model or a filter declined to answer. */
  get isDeclined(): boolean {
    return this.#isDeclined;
  }

  /** The error that the stream told of, as it came; null for none. */
  get failure(): unknown {
    return this.#failure;
  }

  /** The end of the text, for messages. */
  get tail(): string {
    return this.#tail;
  }

  /** Events of the stream that were of this API. */
  get understood(): number {
    return this.#understood;
  }

  /** Events that nobody has taken yet. */
  take(): readonly ModelEvent[] {
    const events = this.#pending;
    this.#pending = [];
    return events;
  }

  note(): void {
    this.#understood++;
  }

  servedBy(model: unknown): void {
    if (typeof model === "string" && model !== "") this.#model = model;
  }

  text(delta: unknown): void {
    const whole = this.#joined("text", delta);
    this.#tail = (this.#tail + whole).slice(-500);
    if (whole !== "") this.#pending.push({ type: "text", delta: whole });
  }

  reasoning(delta: unknown): void {
    const whole = this.#joined("reasoning", delta);
    if (whole !== "") this.#pending.push({ type: "reasoning", delta: whole });
  }

  /** The model's words for its refusal. */
  refusal(delta: unknown): void {
    if (typeof delta !== "string" || delta === "") return;
    this.#tail = (this.#tail + delta).slice(-500);
    this.#isDeclined = true;
  }

  decline(why: string): void {
    if (this.#tail === "") this.#tail = why;
    this.#isDeclined = true;
    this.#finish ??= "content-filter";
  }

  /** Counts replace those that came before; what is no number changes nothing. */
  count(counts: { readonly [K in keyof Usage]?: unknown }): void {
    const read = Object.entries(counts).filter(([, value]) => typeof value === "number" && Number.isFinite(value));
    const usage: Usage = { ...this.#usage, ...Object.fromEntries(read) };
    this.#usage = { ...usage, cached: Math.min(usage.cached, usage.input) };
  }

  end(finish: string): void {
    this.#finish = finish;
  }

  whole(): void {
    this.#isWhole = true;
  }

  fail(error: unknown): void {
    this.#failure = error;
  }

  #joined(kind: "text" | "reasoning", delta: unknown): string {
    if (typeof delta !== "string" || delta === "") return "";
    const text = this.#half[kind] + delta;
    const isHalf = /[\ud800-\udbff]$/.test(text);
    this.#half[kind] = isHalf ? text.slice(-1) : "";
    return isHalf ? text.slice(0, -1) : text;
  }
}

export type Attribute = string | number | boolean | readonly string[];
export type SpanKind = "internal" | "server" | "client";

/** What a span passes on to its children, and to other processes. */
export interface SpanContext {
  /** 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

/** A finished span, ready to be sent. Times are in milliseconds since the epoch, with fractions. */
export interface FinishedSpan extends SpanContext {
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly begun: number;
  readonly ended: number;
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** An error message if it failed, otherwise null. */
  readonly error: string | null;
}

export type SpanFacts = Omit<FinishedSpan, "ended" | "attributes" | "error">;

/** A timed operation. Changes after its end have no effect. */
export class Span {
  readonly #facts: SpanFacts;
  readonly #now: () => number;
  readonly #finish: (span: FinishedSpan) => void;
  readonly #attributes: Record<string, Attribute> = {};
  #name: string;
  #error: string | null = null;
  #over = false;

  constructor(
    facts: SpanFacts,
    { now, finish }: { readonly now: () => number; readonly finish: (span: FinishedSpan) => void },
  ) {
    this.#facts = facts;
    this.#name = facts.name;
    this.#now = now;
    this.#finish = finish;
  }

  get context(): SpanContext {
    const { traceId, spanId, sampled } = this.#facts;
    return { traceId, spanId, sampled };
  }

  /** Sets a better name that became known later. */
  rename(name: string): this {
    this.#name = name;
    return this;
  }

  /** Undefined and null values are skipped. */
  set(attributes: Readonly<Record<string, Attribute | null | undefined>>): this {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== null) this.#attributes[name] = value;
    }
    return this;
  }

  /** Marks it as failed; `type` is a word for grouping. */
  fail(type: string, message: string): this {
    this.#error = message.slice(0, 1000);
    return this.set({ "error.type": type });
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    const { sampled, begun } = this.#facts;
    if (!sampled) return;
    const ended = Math.max(begun, this.#now());
    this.#finish({ ...this.#facts, name: this.#name, ended, attributes: this.#attributes, error: this.#error });
  }
}

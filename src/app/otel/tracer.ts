import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";

interface TracerParts {
  readonly finish: (span: FinishedSpan) => void;
  readonly now: () => number;
  /** The share of traces that is recorded, 0 to 1. */
  readonly ratio: number;
  readonly followsParent: boolean;
}

/** Provides the parent of spans: work inside it begins below the span that it returns at that moment. */
export interface SpanParent {
  readonly span: () => SpanContext | null;
}

/** Begins spans, and tracks across calls which span the work belongs to. */
export class Tracer {
  readonly #parts: TracerParts;
  readonly #places = new AsyncLocalStorage<SpanParent>();

  constructor(parts: TracerParts) {
    this.#parts = parts;
  }

  /** The span of the running work. */
  get current(): SpanContext | null {
    return this.#places.getStore()?.span() ?? null;
  }

  /** Begins a span below `parent`, by default the current one; null begins a trace. */
  start(
    name: string,
    { kind = "internal", parent = this.current }: {
      readonly kind?: SpanKind;
      readonly parent?: SpanContext | null;
    } = {},
  ): Span {
    const { finish, now } = this.#parts;
    const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
    const spanId = randomBytes(8).toString("hex");
    const sampled = parent && this.#parts.followsParent ? parent.sampled : this.#isChosen(traceId);
    const facts = { traceId, spanId, sampled, parentSpanId: parent?.spanId ?? null, name, kind, begun: now() };
    return new Span(facts, { now, finish });
  }

  within<T>(place: SpanParent, work: () => T): T {
    return this.#places.run(place, work);
  }

  /** All processes that see part of the trace decide the same. */
  #isChosen(traceId: string): boolean {
    return Number.parseInt(traceId.slice(-13), 16) < this.#parts.ratio * 16 ** 13;
  }
}

/** The context of a W3C `traceparent`; null if it is missing or invalid. */
export function parentOf(traceparent: string | null): SpanContext | null {
  const found = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(traceparent ?? "");
  if (!found) return null;
  const [, traceId = "", spanId = "", flags = ""] = found;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

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

type SpanFacts = Omit<FinishedSpan, "ended" | "attributes" | "error">;

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

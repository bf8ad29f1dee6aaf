import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { type FinishedSpan, Span, type SpanContext, type SpanKind } from "./span.ts";

export interface TracerParts {
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

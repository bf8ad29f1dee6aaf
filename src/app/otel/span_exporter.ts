import { REAL_CLOCK, unrefTimer } from "../../domain/kit/time.ts";
import type { Log } from "../../logging/log.ts";
import type { Attribute, FinishedSpan, SpanKind } from "./tracer.ts";

/** Settings from the standard variables (`OTEL_*`). */
export interface OtelSettings {
  /** Endpoint for spans, as OTLP in JSON. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
  /** The share of traces that is recorded, 0 to 1. */
  readonly ratio: number;
  /** Whether a caller's own decision overrides the ratio. */
  readonly followsParent: boolean;
  readonly queue: { readonly limit: number; readonly batch: number; readonly delayMs: number };
}

/** Status codes that OTLP defines as retryable. */
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const TRIES = 3;
const TOLD_EVERY_MS = 60_000;

interface ExporterParts {
  readonly settings: OtelSettings;
  readonly version: string;
  readonly log: Pick<Log, "warn">;
  readonly now: () => number;
  /** The pause after the first failure; it doubles each time. */
  readonly pauseMs?: number;
}

/** Sends spans in batches. It never throws and never blocks: spans that exceed its queue, or that the collector does
 * not accept in three attempts, are dropped and counted. */
export class SpanExporter {
  readonly #parts: ExporterParts;
  readonly #waiting: FinishedSpan[] = [];
  readonly #closing = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sending: Promise<void> | null = null;
  #dropped = 0;
  #toldAt = -Infinity;

  constructor(parts: ExporterParts) {
    this.#parts = parts;
  }

  /** Number of spans that were not sent. */
  get dropped(): number {
    return this.#dropped;
  }

  add(span: FinishedSpan): void {
    const { limit, batch, delayMs } = this.#parts.settings.queue;
    if (this.#closing.signal.aborted || this.#waiting.length >= limit) {
      this.#dropped++;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= batch) return void this.#send();
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => void this.#send(), delayMs);
    unrefTimer(this.#timer);
  }

  /** Sends queued spans, for at most `withinMs`. */
  async close(withinMs = 3_000): Promise<void> {
    const late = setTimeout(() => this.#closing.abort(), withinMs);
    try {
      await this.#send();
    } finally {
      clearTimeout(late);
      this.#closing.abort();
    }
  }

  #send(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    return this.#sending ??= this.#sendAll().finally(() => this.#sending = null);
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, this.#parts.settings.queue.batch);
      const fault = await this.#sendBatch(spans);
      if (fault === null) continue;
      this.#dropped += spans.length;
      this.#tell(fault);
    }
  }

  /** Why a batch was rejected; null if it was accepted. */
  async #sendBatch(spans: readonly FinishedSpan[]): Promise<string | null> {
    const { settings: { resource }, version, pauseMs = 1_000 } = this.#parts;
    const body = otlpBody(spans, { resource, version });
    for (let attempt = 1;; attempt++) {
      const fault = await this.#post(body);
      if (fault === null || !fault.again || attempt === TRIES || this.#closing.signal.aborted) {
        return fault?.why ?? null;
      }
      await REAL_CLOCK.sleep(pauseMs * 2 ** (attempt - 1), this.#closing.signal).catch(() => {});
    }
  }

  async #post(body: string): Promise<{ readonly why: string; readonly again: boolean } | null> {
    const { url, headers, timeoutMs } = this.#parts.settings;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body,
        redirect: "error",
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), this.#closing.signal]),
      });
      await response.body?.cancel();
      return response.ok ? null : { why: `status ${response.status}`, again: AGAIN.has(response.status) };
    } catch (error) {
      // The message of `fetch` may contain the URL with its password.
      return { why: error instanceof Error ? error.name : "no connection", again: true };
    }
  }

  #tell(why: string): void {
    const now = this.#parts.now();
    if (now - this.#toldAt < TOLD_EVERY_MS) return;
    this.#toldAt = now;
    this.#parts.log.warn("spans_not_sent", { why, dropped: this.#dropped });
  }
}

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;

/** The body of an OTLP request in JSON: ids in hexadecimal, 64-bit numbers as strings, enumerations as numbers. */
function otlpBody(
  spans: readonly FinishedSpan[],
  { resource, version }: { readonly resource: Readonly<Record<string, string>>; readonly version: string },
): string {
  const scope = { name: "vis", version };
  const scopeSpans = [{ scope, spans: spans.map(spanOf) }];
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans }] });
}

function spanOf(span: FinishedSpan): Readonly<Record<string, unknown>> {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentSpanId === null ? {} : { parentSpanId: span.parentSpanId }),
    flags: 1,
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: nanos(span.begun),
    endTimeUnixNano: nanos(span.ended),
    attributes: attributesOf(span.attributes),
    status: span.error === null ? {} : { code: STATUS_ERROR, message: span.error },
  };
}

/** A double of milliseconds since the epoch is exact to microseconds. */
function nanos(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}

function attributesOf(attributes: Readonly<Record<string, Attribute>>): readonly unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: Attribute): Readonly<Record<string, unknown>> {
  if (typeof value === "string") return { stringValue: value.toWellFormed() };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((one) => valueOf(one)) } };
}

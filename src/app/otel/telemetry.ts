import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { percentDecoded } from "../../domain/kit/addresses.ts";
import { REAL_CLOCK, unrefTimer } from "../../domain/kit/concurrency.ts";
import { createLog, type Log } from "../../logging/log.ts";
import type { EnvironmentVariables } from "../settings/settings.ts";

const UNTRACED = /^\/(healthz|readyz|metrics|openapi\.json|favicon\.ico|assets\/.*)?$/;

type Work = (routed: (route: string) => void) => Promise<Response>;

export interface Telemetry {
  readonly tracer: Tracer;
  within(request: Request, work: Work): Promise<Response>;
  close(): Promise<void>;
}

export function openTelemetry(env: EnvironmentVariables, { version }: { readonly version: string }): Telemetry | null {
  const settings = otelSettings(env, { version });
  if (!settings) return null;
  const exporter = new SpanExporter({ settings, version, log: createLog("otel"), now: Date.now });
  const tracer = new Tracer({
    finish: (span) => exporter.add(span),
    now: () => performance.timeOrigin + performance.now(),
    ...{ ratio: settings.ratio, followsParent: settings.followsParent },
  });
  return {
    tracer,
    within: (request, work) => traceRequest(tracer, { request, work }),
    close: () => exporter.close(),
  };
}

async function traceRequest(
  tracer: Tracer,
  { request, work }: { readonly request: Request; readonly work: Work },
): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (UNTRACED.test(pathname)) return await work(() => {});
  const span = tracer.start(request.method, { kind: "server", parent: parentOf(request.headers.get("traceparent")) });
  span.set({ "http.request.method": request.method, "url.path": pathname.slice(0, 200), "url.scheme": "http" });
  try {
    const routed = (route: string) => span.rename(`${request.method} ${route}`).set({ "http.route": route });
    const response = await tracer.within({ span: () => span.context }, () => work(routed));
    span.set({ "http.response.status_code": response.status, "vis.request.id": response.headers.get("x-request-id") });
    if (response.status >= 500) span.fail(String(response.status), `status ${response.status}`);
    return response;
  } finally {
    span.end();
  }
}

export function otelSettings(
  env: EnvironmentVariables,
  { version }: { readonly version: string },
): OtelSettings | null {
  const url = urlOf(env);
  const off = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none";
  if (off || url === null) return null;
  const { ratio, followsParent } = sampler(env);
  const attributes = pairs(env["OTEL_RESOURCE_ATTRIBUTES"]);
  const { "service.name": given = "vis" } = attributes;
  return {
    url,
    headers: { ...pairs(env["OTEL_EXPORTER_OTLP_HEADERS"]), ...pairs(env["OTEL_EXPORTER_OTLP_TRACES_HEADERS"]) },
    timeoutMs: whole(env["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"] ?? env["OTEL_EXPORTER_OTLP_TIMEOUT"], 10_000),
    resource: { "service.version": version, ...attributes, "service.name": env["OTEL_SERVICE_NAME"] || given },
    ratio,
    followsParent,
    queue: {
      limit: whole(env["OTEL_BSP_MAX_QUEUE_SIZE"], 2048),
      batch: whole(env["OTEL_BSP_MAX_EXPORT_BATCH_SIZE"], 512),
      delayMs: whole(env["OTEL_BSP_SCHEDULE_DELAY"], 5000),
    },
  };
}

/** By OTLP's specification, the variable for traces contains the whole URL, and the general variable contains a base. */
function urlOf(env: EnvironmentVariables): string | null {
  const own = env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
  const general = env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  const url = own || (general ? `${general.replace(/\/$/, "")}/v1/traces` : "");
  return /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "") ? url : null;
}

function pairs(text = ""): Record<string, string> {
  const found = text.split(",").map((part) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(part));
  return Object.fromEntries(found.flatMap((match) => match ? [[match[1] ?? "", percentDecoded(match[2] ?? "")]] : []));
}

function whole(text: string | undefined, standard: number): number {
  return /^\d{1,9}$/.test(text ?? "") && Number(text) > 0 ? Number(text) : standard;
}

function sampler(env: EnvironmentVariables): { readonly ratio: number; readonly followsParent: boolean } {
  const name = env["OTEL_TRACES_SAMPLER"] ?? "parentbased_always_on";
  const followsParent = name.startsWith("parentbased_");
  const kind = name.replace("parentbased_", "");
  if (kind === "always_off") return { ratio: 0, followsParent };
  const given = Number(env["OTEL_TRACES_SAMPLER_ARG"] ?? 1);
  const ratio = kind === "traceidratio" && given >= 0 && given <= 1 ? given : 1;
  return { ratio, followsParent };
}

interface TracerParts {
  readonly finish: (span: FinishedSpan) => void;
  readonly now: () => number;
  readonly ratio: number;
  readonly followsParent: boolean;
}

export interface SpanParent {
  readonly span: () => SpanContext | null;
}

export class Tracer {
  readonly #parts: TracerParts;
  readonly #places = new AsyncLocalStorage<SpanParent>();

  constructor(parts: TracerParts) {
    this.#parts = parts;
  }

  get current(): SpanContext | null {
    return this.#places.getStore()?.span() ?? null;
  }

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

  #isChosen(traceId: string): boolean {
    return Number.parseInt(traceId.slice(-13), 16) < this.#parts.ratio * 16 ** 13;
  }
}

export function parentOf(traceparent: string | null): SpanContext | null {
  const found = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(traceparent ?? "");
  if (!found) return null;
  const [, traceId = "", spanId = "", flags = ""] = found;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export type Attribute = string | number | boolean | readonly string[];
type SpanKind = "internal" | "server" | "client";

export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

export interface FinishedSpan extends SpanContext {
  readonly parentSpanId: string | null;
  readonly name: string;
  readonly kind: SpanKind;
  readonly begun: number;
  readonly ended: number;
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly error: string | null;
}

type SpanFacts = Omit<FinishedSpan, "ended" | "attributes" | "error">;

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

  rename(name: string): this {
    this.#name = name;
    return this;
  }

  set(attributes: Readonly<Record<string, Attribute | null | undefined>>): this {
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== null) this.#attributes[name] = value;
    }
    return this;
  }

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

interface OtelSettings {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Readonly<Record<string, string>>;
  readonly ratio: number;
  readonly followsParent: boolean;
  readonly queue: { readonly limit: number; readonly batch: number; readonly delayMs: number };
}

const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const TRIES = 3;
const TOLD_EVERY_MS = 60_000;

interface ExporterParts {
  readonly settings: OtelSettings;
  readonly version: string;
  readonly log: Pick<Log, "warn">;
  readonly now: () => number;
  readonly pauseMs?: number;
}

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
      // An error message of `fetch` may contain the URL with its password.
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

/** OTLP's JSON has ids in hexadecimal, 64-bit numbers as strings, and enumerations as numbers. */
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

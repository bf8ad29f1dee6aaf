import type { Attribute, FinishedSpan, SpanKind } from "./span.ts";

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;

/** The body of an OTLP request in JSON: ids in hexadecimal, 64-bit numbers as strings, enumerations as numbers. */
export function otlpBody(
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

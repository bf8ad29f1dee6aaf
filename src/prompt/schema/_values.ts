import type { JsonValue } from "../../domain/kit/json.ts";
import { clip } from "../../domain/kit/text.ts";
import type { JsonSchema } from "./_check.ts";

/** Within the rounding error of one division: 0.3 is a multiple of 0.1. */
export function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  if (!Number.isFinite(times)) return value % of === 0;
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.max(1, Math.abs(times));
}

export function isOfType(value: JsonValue, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return isList(value);
  if (type === "object") return isJsonObject(value);
  if (type === "boolean") return typeof value === "boolean";
  return type === "number" ? typeof value === "number" : typeof value === "string";
}

export function same(one: unknown, other: JsonValue): boolean {
  return canonical(one) === canonical(other);
}

/** Equal values have equal texts: the order of properties does not matter. */
export function canonical(value: unknown): string {
  if (isList(value)) return `[${value.map(canonical).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "";
  const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`;
}

export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** A value as shown in a fault; always short. */
export function shown(value: JsonValue): string {
  if (isList(value)) return `a list of ${value.length}`;
  if (isJsonObject(value)) return `an object with ${Object.keys(value).length} properties`;
  return clip(JSON.stringify(value), 80);
}
export function num(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isJsonObject(value: unknown): value is { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isJsonObject(value);
}

export function schemas(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

export function map(value: unknown): Readonly<Record<string, JsonSchema>> {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, one]) => isSchema(one))) as Record<string, JsonSchema>
    : {};
}

export function objectOr(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

export function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

/** The number of values in a value, including itself. */
export function partsOf(value: JsonValue): number {
  if (isList(value)) return value.reduce((sum: number, item) => sum + partsOf(item), 1);
  if (isJsonObject(value)) return Object.values(value).reduce((sum: number, item) => sum + partsOf(item), 1);
  return 1;
}

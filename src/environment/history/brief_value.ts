import { readable } from "../../domain/text/readable.ts";

const MAX_CHARS = 160;
const MAX_ITEMS = 6;
const MAX_DEPTH = 3;

/** A value from the codec on one short line, without traversing all of it. */
export function briefValue(value: unknown): string {
  return cut(brief(value, 0));
}

function brief(value: unknown, depth: number): string {
  if (typeof value === "string") return JSON.stringify(cut(value));
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value !== "object" || value === null) return String(value);
  if (value instanceof ArrayBuffer || value instanceof DataView) return `${value.byteLength} bytes`;
  if (ArrayBuffer.isView(value)) return listed(Object.prototype.toString.call(value).slice(8, -1), value, depth);
  if (Array.isArray(value)) return listed("", value, depth);
  if (value instanceof Map) return `Map(${value.size})`;
  if (value instanceof Set) return `Set(${value.size})`;
  if (Object.prototype.toString.call(value) !== "[object Object]") return cut(readable(value));
  const keys = Object.keys(value);
  if (depth >= MAX_DEPTH) return `{${keys.length} keys}`;
  const shown = keys.slice(0, MAX_ITEMS).map((key) =>
    `${JSON.stringify(cut(key))}: ${brief(Object.getOwnPropertyDescriptor(value, key)?.value, depth + 1)}`
  );
  return `{${[...shown, ...(keys.length > MAX_ITEMS ? [`… ${keys.length} keys`] : [])].join(", ")}}`;
}

function listed(type: string, value: object, depth: number): string {
  const list = value as unknown as ArrayLike<unknown>;
  if (depth >= MAX_DEPTH) return `${type}[${list.length} items]`;
  const shown: string[] = [];
  for (let i = 0; i < Math.min(list.length, MAX_ITEMS); i++) shown.push(brief(list[i], depth + 1));
  return `${type}[${[...shown, ...(list.length > MAX_ITEMS ? [`… ${list.length} items`] : [])].join(", ")}]`;
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${text.slice(0, MAX_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

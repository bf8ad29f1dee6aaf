import type { VariableSummary } from "../../domain/query/variable.ts";

const INLINE = 120;
const SHAPE = 200;
const KEYS = 12;

/** Summarizes a value from the codec, as the sandbox does for its own values, but with less detail. */
export function summaryOf(value: unknown): Omit<VariableSummary, "declaration" | "doc"> {
  if (typeof value === "string") {
    const text = JSON.stringify(value.slice(0, INLINE));
    const inline = value.length <= INLINE && text.length <= INLINE ? text : null;
    return { type: "string", size: value.length, shape: `string(${value.length})`, inline };
  }
  if (value === null) return { type: "null", size: null, shape: "null", inline: "null" };
  if (typeof value !== "object") {
    const text = typeof value === "bigint" ? `${value}n` : String(value);
    const short = text.slice(0, INLINE);
    return { type: typeof value, size: null, shape: short, inline: text.length <= INLINE ? text : null };
  }
  const { type, size, shape } = sized(value);
  return { type, size, shape: shape.slice(0, SHAPE), inline: null };
}

function sized(value: object): { readonly type: string; readonly size: number | null; readonly shape: string } {
  if (Array.isArray(value)) {
    const [first] = value;
    const of = typeof first === "object" && first !== null && !Array.isArray(first) ? ` of ${keys(first)}` : "";
    return { type: "Array", size: value.length, shape: `Array(${value.length})${of}` };
  }
  if (value instanceof Map || value instanceof Set) {
    const type = value instanceof Map ? "Map" : "Set";
    return { type, size: value.size, shape: `${type}(${value.size})` };
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    const type = value.constructor.name;
    return { type, size: value.byteLength, shape: `${type}(${value.byteLength})` };
  }
  const type = value.constructor?.name ?? "Object";
  if (type !== "Object") return { type, size: null, shape: type };
  return { type, size: Object.keys(value).length, shape: keys(value) };
}

function keys(value: object): string {
  const all = Object.keys(value);
  return `{${all.slice(0, KEYS).join(",")}${all.length > KEYS ? ",…" : ""}}`;
}

import { look } from "../intrinsics/look.ts";
import { primitiveText } from "./leaf_text.ts";
import { preview } from "./preview.ts";

/** A value as shown in an answer: text unchanged, lists of plain values with commas, everything else as a preview. */
export function answerText(value: unknown, chars: number): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (typeof value !== "object" && typeof value !== "function") return readerPrimitive(value);
  if (!look.isProxy(value) && look.isArray(value)) {
    const list = plainList(value, chars);
    if (list !== null) return list;
  }
  return preview(value, { chars, items: 1000, depth: 8, ms: 500 });
}

function plainList(value: readonly unknown[], chars: number): string | null {
  let out = "";
  for (let i = 0; i < value.length; i++) {
    const descriptor = look.descriptorOf(value, i);
    const item: unknown = descriptor && look.hasOwn(descriptor, "value") ? descriptor.value : undefined;
    if (item === null || item === undefined || typeof item === "object" || typeof item === "function") return null;
    out += `${i > 0 ? ", " : ""}${typeof item === "string" ? item : readerPrimitive(item)}`;
    if (out.length > chars) return null;
  }
  return out;
}

/** Digits for a BigInt: the `n` of code says nothing to a reader. */
function readerPrimitive(value: unknown): string {
  const text = primitiveText(value);
  return typeof value === "bigint" && text[text.length - 1] === "n" ? look.slice(text, 0, -1) : text;
}

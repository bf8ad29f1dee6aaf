import { flagsOf } from "../../codec/intrinsics.ts";
import { look } from "../intrinsics/look.ts";
import { bytesOf, classNameOf, hrefOf, inheritedText, type ObjectKind, ownData } from "./object_kind.ts";

/** Larger ones take too long to convert to decimal. */
const MAX_BIGINT = 2n ** 4096n;

/** A primitive value other than text. */
export function primitiveText(value: unknown): string {
  if (typeof value === "bigint") {
    return value < MAX_BIGINT && value > -MAX_BIGINT ? `${value}n` : "[BigInt of more than 1233 digits]";
  }
  if (typeof value === "symbol") return look.slice(look.symbolText(value), 0, 200);
  return look.is(value, -0) ? "-0" : `${value as number | boolean | null | undefined}`;
}

/** What the words for a cut take. */
const MARK = 24;

/** Quoted; longer than `max` characters, its beginning and end, and how much is in between. */
export function quoted(text: string, max: number): string {
  if (text.length <= max + MARK) return look.stringify(text);
  const tail = max >= 200 ? (max / 3) | 0 : 0, head = max - tail;
  const left = text.length - head - tail;
  const start = look.stringify(look.slice(text, 0, head));
  if (tail === 0) return `${start}... ${left} more characters`;
  return `${start}... ${left} characters ...${look.stringify(look.slice(text, text.length - tail))}`;
}

export function keyText(key: string | symbol): string {
  if (typeof key === "symbol") return `[${look.slice(look.symbolText(key), 0, 200)}]`;
  return isName(key) ? key : quoted(key, 200);
}

function isName(key: string): boolean {
  if (key.length === 0 || key.length > 200) return false;
  for (let i = 0; i < key.length; i++) {
    const c = look.charCodeAt(key, i);
    const letter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36;
    if (!letter && (i === 0 || c < 48 || c > 57)) return false;
  }
  return true;
}

export function functionLabel(value: object, kind: "function" | "class"): string {
  const own = ownData(value, "name");
  const name = typeof own === "string" ? look.slice(own, 0, 100) : "";
  if (kind === "class") {
    const base = look.prototypeOf(value);
    const parent = base !== null && typeof base === "function" && base !== look.function && !look.isProxy(base)
      ? ownData(base, "name")
      : "";
    const parentText = typeof parent === "string" && parent ? ` extends ${look.slice(parent, 0, 100)}` : "";
    return `[class ${name || "(anonymous)"}${parentText}]`;
  }
  const tag = inheritedText(value, look.toStringTag) ?? "Function";
  return name ? `[${tag}: ${name}]` : `[${tag} (anonymous)]`;
}

export function dateText(value: Date): string {
  const time = look.time(value);
  return time === time ? look.iso(value) : "Invalid Date";
}

export function regExpText(value: object): string {
  return `/${look.slice(look.source(value), 0, 1000)}/${flagsOf(value)}`;
}

/** An object whose content is one text or nothing. */
export function closedText(value: object, { kind, max }: { readonly kind: ObjectKind; readonly max: number }): string {
  switch (kind) {
    case "boxed":
      return boxedText(value);
    case "url":
      return `URL { href: ${quoted(hrefOf(value) ?? "", max)} }`;
    case "weak":
      return `${classNameOf(value)} { <items unknown> }`;
    default:
      return `${classNameOf(value)} { byteLength: ${bytesOf(value, kind)} }`;
  }
}

function boxedText(value: object): string {
  const readers: readonly (readonly [string, (self: unknown) => unknown])[] = [
    ["Number", look.numberOf],
    ["String", look.stringOf],
    ["Boolean", look.booleanOf],
    ["BigInt", look.bigintOf],
    ["Symbol", look.symbolOf],
  ];
  for (let i = 0; i < readers.length; i++) {
    try {
      const inside = readers[i]![1](value);
      return `[${readers[i]![0]}: ${typeof inside === "string" ? quoted(inside, 200) : primitiveText(inside)}]`;
    } catch {
      continue; // of another kind
    }
  }
  return `[${classNameOf(value)}]`;
}

export function accessorText(descriptor: PropertyDescriptor): string {
  const get = look.hasOwn(descriptor, "get") && descriptor.get !== undefined;
  const set = look.hasOwn(descriptor, "set") && descriptor.set !== undefined;
  return get && set ? "[Getter/Setter]" : get ? "[Getter]" : "[Setter]";
}

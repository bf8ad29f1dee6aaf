import { bareList } from "../../codec/intrinsics.ts";
import { MISSING, type TemplateValues } from "../compiler/restored_script.ts";
import { look } from "../realm/captured.ts";
import { ownData } from "./kinds.ts";
import { preview, primitiveText } from "./preview.ts";

interface NamedValues {
  readonly lookup: (name: string) => unknown;
  readonly names: () => readonly string[];
}

const MAX_KEYS = 8, KEY_CHARS = 40;
const ABSENT: unique symbol = Symbol("absent");

/** Reads values without calling any code that a block can replace, and without running their code. */
export function realmValues({ lookup, names }: NamedValues): TemplateValues {
  const values = bareList<unknown>();
  const add = (value: unknown): number => {
    if (value === ABSENT) return MISSING;
    values[values.length] = value;
    return values.length - 1;
  };
  return {
    names: () => {
      const given = names(), list = bareList<string>();
      for (let i = 0; i < given.length; i++) list[i] = given[i]!;
      return look.stringify(list);
    },
    variable: (name) => add(lookup(name)),
    member: (of, key) => add(memberOf(values[of], key)),
    kind: (of) => {
      const value = values[of];
      if (value === undefined) return "undefined";
      if (value === null) return "null";
      return typeof value === "function" ? "function" : look.isPromise(value) ? "promise" : "other";
    },
    text: (of, chars) => answerText(values[of], chars),
    holds: (of) => holds(values[of]),
    addItems: (of, max) => {
      const value = values[of];
      if (value === undefined || value === null || value === false || value === "" || value === 0) return;
      if (typeof value !== "object" || look.isProxy(value)) return void add(value);
      if (look.isArray(value)) {
        for (let i = 0; i < value.length && i < max; i++) {
          const descriptor = look.descriptorOf(value, i);
          if (descriptor && look.hasOwn(descriptor, "value")) add(descriptor.value);
        }
      } else if (look.isSet(value)) {
        const iterator = look.setValues(value), size = look.setSize(value);
        for (let i = 0; i < size && i < max; i++) add((look.setNext(iterator) as IteratorResult<unknown>).value);
      } else add(value);
    },
    next: () => values.length,
    forget: (from) => {
      values.length = from;
    },
  };
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value === "string") return key === "length" ? value.length : ABSENT;
  if (typeof value !== "object" || value === null || look.isProxy(value)) return ABSENT;
  if (key === "size" && look.isMap(value)) return look.mapSize(value);
  if (key === "size" && look.isSet(value)) return look.setSize(value);
  if (key === "length" && look.isTypedArray(value)) return look.viewLength(value);
  if (look.isMap(value) && !look.hasOwn(value, key)) {
    const found: unknown = look.mapGet(value, key);
    return found === undefined ? ABSENT : found;
  }
  if (look.hasOwn(value, key)) {
    const descriptor = look.descriptorOf(value, key);
    return descriptor && look.hasOwn(descriptor, "value") ? descriptor.value : ABSENT;
  }
  if (look.isNativeError(value)) return ownData(look.prototypeOf(value) ?? value, key) ?? ABSENT;
  return ABSENT;
}

function holds(value: unknown): string {
  if (value === null || value === undefined) return `is ${value}`;
  if (typeof value !== "object" || look.isProxy(value)) return `is a ${typeof value}`;
  if (look.isArray(value)) return `is a list of ${value.length}`;
  if (look.isMap(value)) return `is a Map of ${look.mapSize(value)}`;
  const keys = look.ownKeys(value);
  let shown = "", count = 0;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    if (typeof key !== "string" || count++ >= MAX_KEYS) continue;
    shown += `${count > 1 ? ", " : ""}${look.slice(key, 0, KEY_CHARS)}`;
  }
  return count === 0 ? "has no fields" : `has ${shown}${count > MAX_KEYS ? ", …" : ""}`;
}

function answerText(value: unknown, chars: number): string {
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

/** Formats a BigInt as digits, since the `n` of code means nothing to a reader. */
function readerPrimitive(value: unknown): string {
  const text = primitiveText(value);
  return typeof value === "bigint" && text[text.length - 1] === "n" ? look.slice(text, 0, -1) : text;
}

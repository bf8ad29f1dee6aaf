import { bareList } from "../../codec/intrinsics.ts";
import { MISSING, type TemplateValues, type TextForm } from "../compiler/restored_script.ts";
import { look } from "../realm/captured.ts";
import { kindOf, ownData } from "./kinds.ts";
import { preview, primitiveText } from "./preview.ts";

interface NamedValues {
  readonly lookup: (name: string) => unknown;
  readonly names: () => readonly string[];
}

const MAX_KEYS = 8, KEY_CHARS = 40;
const ABSENT: unique symbol = Symbol("absent");

/** Reading calls no code that a block can replace, and runs no code of the values. */
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
    text: (of, form) => answerText(values[of], form),
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

function answerText(value: unknown, { json, chars }: TextForm & { readonly chars: number }): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (typeof value !== "object" && typeof value !== "function") return readerPrimitive(value);
  const whole = () => preview(value, { chars, items: MAX_ITEMS, depth: 8, ms: 500 });
  if (json) return new JsonText(chars).of(value, 0) ?? whole();
  const reader = new ReaderText(chars);
  return reader.table(value) ?? reader.list(value) ?? reader.line(value, 0) ?? whole();
}

const MAX_ITEMS = 1000, MAX_COLUMNS = 12, MAX_DEPTH = 6, MAX_JSON_DEPTH = 64, MAX_VALUES = 100_000;
const BAR = 124, LINE_FEED = 10, RETURN = 13;

class ReaderText {
  readonly #chars: number;
  #values = 0;

  constructor(chars: number) {
    this.#chars = chars;
  }

  table(value: object): string | null {
    if (look.isProxy(value) || !look.isArray(value) || value.length === 0) return null;
    const columns = bareList<string>();
    const seen: Record<string, true> = look.create(null);
    const rows = value.length < MAX_ITEMS ? value.length : MAX_ITEMS;
    for (let i = 0; i < rows; i++) {
      const row = ownData(value, i), keys = plainKeys(row);
      if (keys === null) return null;
      for (let k = 0; k < keys.length; k++) {
        const key = keys[k]!;
        if (seen[key]) continue;
        seen[key] = true;
        columns[columns.length] = key;
      }
      if (columns.length > MAX_COLUMNS) return null;
    }
    if (columns.length === 0) return null;
    let head = "|", line = "|";
    for (let k = 0; k < columns.length; k++) {
      head += ` ${cell(columns[k]!)} |`;
      line += " --- |";
    }
    let out = `\n\n${head}\n${line}`;
    for (let i = 0; i < rows; i++) {
      const row = ownData(value, i) as object;
      out += "\n|";
      for (let k = 0; k < columns.length; k++) {
        const found = ownData(row, columns[k]!);
        const text = found === null || found === undefined ? "" : this.line(found, 1);
        if (text === null) return null;
        out += ` ${cell(text)} |`;
      }
      if (out.length > this.#chars) return null;
    }
    const more = value.length - rows;
    return `${out}\n\n${more > 0 ? `… ${more} more ${more === 1 ? "row" : "rows"}\n\n` : ""}`;
  }

  list(value: object): string | null {
    if (look.isProxy(value) || !look.isArray(value)) return null;
    let out = "\n\n", hasComposite = false;
    for (let i = 0; i < value.length && i < MAX_ITEMS; i++) {
      const item = ownData(value, i), text = this.line(item, 1);
      if (text === null) return null;
      hasComposite ||= typeof item === "object" && item !== null;
      out += `- ${text}\n`;
      if (out.length > this.#chars) return null;
    }
    const more = value.length - MAX_ITEMS;
    return hasComposite ? `${out}${more > 0 ? `- … ${more} more\n` : ""}\n` : null;
  }

  line(value: unknown, depth: number): string | null {
    if (++this.#values > MAX_VALUES || depth > MAX_DEPTH) return null;
    if (typeof value === "string") return value;
    if (value === null || value === undefined) return "none";
    if (typeof value === "function") return null;
    if (typeof value !== "object") return readerPrimitive(value);
    if (look.isProxy(value)) return null;
    if (look.isArray(value)) return this.#items(value, depth);
    if (look.isSet(value)) return this.#set(value, depth);
    if (look.isMap(value)) return this.#map(value, depth);
    if (look.isDate(value)) return dateText(value);
    const keys = plainKeys(value);
    if (keys === null) return isPlain(value) ? null : preview(value, { chars: 1000, items: 20, depth: 2, ms: 100 });
    let out = "";
    for (let k = 0; k < keys.length; k++) {
      const text = this.#inner(ownData(value, keys[k]!), depth);
      if (text === null) return null;
      out += `${k > 0 ? ", " : ""}${keys[k]!}: ${text}`;
      if (out.length > this.#chars) return null;
    }
    return out;
  }

  #items(value: readonly unknown[], depth: number): string | null {
    let out = "";
    for (let i = 0; i < value.length; i++) {
      const text = this.#inner(ownData(value, i), depth);
      if (text === null) return null;
      out += `${i > 0 ? ", " : ""}${text}`;
      if (out.length > this.#chars) return null;
    }
    return out;
  }

  #set(value: object, depth: number): string | null {
    return this.#items(setItems(value), depth);
  }

  #map(value: object, depth: number): string | null {
    const iterator = look.mapEntries(value), size = look.mapSize(value);
    let out = "";
    for (let i = 0; i < size; i++) {
      const entry = (look.mapNext(iterator) as IteratorResult<unknown>).value as readonly [unknown, unknown];
      const key = this.#inner(entry[0], depth), text = this.#inner(entry[1], depth);
      if (key === null || text === null) return null;
      out += `${i > 0 ? ", " : ""}${key}: ${text}`;
      if (out.length > this.#chars) return null;
    }
    return out;
  }

  #inner(value: unknown, depth: number): string | null {
    const text = this.line(value, depth + 1);
    if (text === null || typeof value !== "object" || value === null) return text;
    const isComposite = look.isArray(value) || look.isSet(value) || look.isMap(value) || isPlain(value);
    return isComposite ? `(${text === "" ? "none" : text})` : text;
  }
}

function setItems(value: object): readonly unknown[] {
  const items = bareList<unknown>(), iterator = look.setValues(value), size = look.setSize(value);
  for (let i = 0; i < size; i++) items[i] = (look.setNext(iterator) as IteratorResult<unknown>).value;
  return items;
}

interface Member {
  readonly key: string;
  readonly value: unknown;
}

class JsonText {
  readonly #chars: number;
  #values = 0;

  constructor(chars: number) {
    this.#chars = chars;
  }

  of(value: unknown, depth: number): string | null {
    if (++this.#values > MAX_VALUES || depth > MAX_JSON_DEPTH) return null;
    if (typeof value === "string") return look.stringify(value);
    if (value === null || value === undefined) return "null";
    if (typeof value === "number" || typeof value === "boolean") return look.stringify(value);
    if (typeof value === "bigint") return readerPrimitive(value);
    if (typeof value !== "object" || look.isProxy(value)) return null;
    if (look.isArray(value)) return this.#list(value, depth);
    if (look.isSet(value)) return this.#list(setItems(value), depth);
    if (look.isMap(value)) return this.#map(value, depth);
    if (look.isDate(value)) return look.stringify(dateText(value));
    const keys = kindOf(value) === "object" ? dataKeys(value) : null;
    if (keys === null) return null;
    const members = bareList<Member>();
    for (let k = 0; k < keys.length; k++) members[k] = { key: keys[k]!, value: ownData(value, keys[k]!) };
    return this.#object(members, depth);
  }

  #map(value: object, depth: number): string | null {
    const iterator = look.mapEntries(value), size = look.mapSize(value), members = bareList<Member>();
    for (let i = 0; i < size; i++) {
      const entry = (look.mapNext(iterator) as IteratorResult<unknown>).value as readonly [unknown, unknown];
      const key = entry[0], item = entry[1]; // A pattern would use the iterator of arrays.
      if (typeof key !== "string" && typeof key !== "number") return null;
      members[i] = { key: `${key}`, value: item };
    }
    return this.#object(members, depth);
  }

  #object(members: readonly Member[], depth: number): string | null {
    let out = "";
    for (let i = 0; i < members.length; i++) {
      const { key, value } = members[i]!;
      if (value === undefined) continue;
      const text = this.of(value, depth + 1);
      if (text === null) return null;
      out += `${out === "" ? "" : ","}${look.stringify(key)}:${text}`;
      if (out.length > this.#chars) return null;
    }
    return `{${out}}`;
  }

  #list(value: readonly unknown[], depth: number): string | null {
    let out = "";
    for (let i = 0; i < value.length; i++) {
      const text = this.of(ownData(value, i), depth + 1);
      if (text === null) return null;
      out += `${i > 0 ? "," : ""}${text}`;
      if (out.length > this.#chars) return null;
    }
    return `[${out}]`;
  }
}

function dateText(value: object): string {
  try {
    return look.iso(value as Date);
  } catch {
    return "Invalid Date";
  }
}

function isPlain(value: object): boolean {
  const prototype = look.prototypeOf(value);
  return prototype === null || prototype === look.object;
}

function plainKeys(value: unknown): readonly string[] | null {
  if (typeof value !== "object" || value === null || look.isProxy(value) || !isPlain(value)) return null;
  return dataKeys(value);
}

function dataKeys(value: object): readonly string[] | null {
  const keys = look.ownKeys(value), found = bareList<string>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!, descriptor = look.descriptorOf(value, key);
    if (!descriptor?.enumerable) continue;
    if (typeof key !== "string" || !look.hasOwn(descriptor, "value") || typeof descriptor.value === "function") {
      return null;
    }
    found[found.length] = key;
  }
  return found;
}

function cell(text: string): string {
  let out = "", from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = look.charCodeAt(text, i);
    if (code !== BAR && code !== LINE_FEED && code !== RETURN) continue;
    out += `${look.slice(text, from, i)}${code === BAR ? "\\|" : " "}`;
    from = i + 1;
  }
  return `${out}${look.slice(text, from, text.length)}`;
}

/** The `n` of a BigInt means nothing to a reader of Markdown. */
function readerPrimitive(value: unknown): string {
  const text = primitiveText(value);
  return typeof value === "bigint" && text[text.length - 1] === "n" ? look.slice(text, 0, -1) : text;
}

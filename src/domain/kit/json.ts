import { clip } from "./text.ts";

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

const MAX_DEPTH = 500;
const NO_FORM = "JSON has no form for it";

/** Omits undefined fields, and replaces undefined items by null. */
export function jsonValue(value: unknown): JsonValue {
  return convert(value, { path: "", depth: 0 });
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

function convert(value: unknown, at: Place): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) return Number(value);
  if (typeof value === "bigint") {
    throw refused(`the BigInt ${clip(String(value), 60)}`, at, "a number would lose digits; convert it to text");
  }
  if (typeof value === "function" || typeof value === "symbol") throw refused(`a ${typeof value}`, at);
  if (typeof value !== "object") throw refused(String(value), at);
  if (at.depth >= MAX_DEPTH) {
    throw refused("a value", at, `it has more than ${MAX_DEPTH} levels, or contains itself`);
  }
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw refused("a Date without a valid time", at);
    return value.toISOString();
  }
  if (value instanceof URL || value instanceof RegExp) return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof ArrayBuffer || value instanceof DataView) {
    throw refused("binary data", at, `${NO_FORM}; convert it to Base64 text`);
  }
  if (Array.isArray(value) || value instanceof Set || ArrayBuffer.isView(value)) {
    return Array.from(value as Iterable<unknown>, (item, index) => item === undefined ? null : below(item, at, index));
  }
  const entries = value instanceof Map ? [...value].map(([key, item]) => [keyOf(key, at), item] as const) : own(value);
  const kept = entries.filter(([, item]) => item !== undefined);
  return Object.fromEntries(kept.map(([key, item]) => [key, below(item, at, key)]));
}

function own(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(Object.getOwnPropertyDescriptors(value))
    .filter(([, { enumerable }]) => enumerable)
    .map(([key, descriptor]) => [key, descriptor.value] as const);
}

function below(value: unknown, { path, depth }: Place, key: string | number): JsonValue {
  return convert(value, { path: `${path}/${key}`, depth: depth + 1 });
}

function keyOf(key: unknown, at: Place): string {
  if (typeof key === "object" && key !== null) throw refused("a Map whose keys are objects", at);
  return String(key);
}

function refused(what: string, { path }: Place, why = NO_FORM): TypeError {
  return new TypeError(`Cannot write ${what} as JSON${path === "" ? "" : `, at ${clip(path, 200)}`}: ${why}`);
}

/** Untrusted JSON needs limits: many values take much more memory than their text, and deep nesting overflows the
 * stack. */
export interface JsonLimits {
  readonly values: number;
  readonly depth: number;
}

const JSON_LIMITS: JsonLimits = { values: 1_000_000, depth: 500 };

const QUOTE = 34, COMMA = 44, BACKSLASH = 92, ARRAY = 91, ARRAY_END = 93, OBJECT = 123, OBJECT_END = 125;

export class JsonTooLarge extends RangeError {
  override readonly name = "JsonTooLarge";
  constructor(readonly limit: "values" | "depth", readonly what: string) {
    super(`Cannot read the JSON: ${what}`);
  }
}

/** Counts values and levels before a parser builds the values. The text may arrive in pieces, and may be invalid
 * JSON. */
export class JsonMeter {
  readonly #limits: JsonLimits;
  #depth = 0;
  #values = 0;
  #inText = false;
  #escaped = false;

  constructor(limits: JsonLimits = JSON_LIMITS) {
    this.#limits = limits;
  }

  restart(): void {
    this.#depth = this.#values = 0;
    this.#inText = this.#escaped = false;
  }

  push(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (code === QUOTE) this.#inText = !this.#inText;
      else if (this.#inText) this.#escaped = code === BACKSLASH;
      else if (code === COMMA) this.#count();
      else if (code === ARRAY || code === OBJECT) this.#enter();
      else if (code === ARRAY_END || code === OBJECT_END) this.#depth--;
    }
  }

  #enter(): void {
    const { depth } = this.#limits;
    if (++this.#depth > depth) throw new JsonTooLarge("depth", `it is deeper than ${depth} levels`);
    this.#count();
  }

  #count(): void {
    const { values } = this.#limits;
    if (++this.#values > values) throw new JsonTooLarge("values", `it has more than ${values} values`);
  }
}

/** Throws `JsonTooLarge` above a limit, before the parser builds a value. */
export function readForeignJson(text: string, limits: JsonLimits = JSON_LIMITS): unknown {
  // A text has at most as many values and levels as characters, so Vis does not count a short text.
  if (text.length > Math.min(limits.depth, limits.values)) new JsonMeter(limits).push(text);
  return JSON.parse(text);
}

const LONG_INTEGER = /\d{16}/;

/** `read` is the parsed text. The result has a BigInt instead of each integer outside the safe range, except for an
 * integer with an exponent. */
export function exactJson(text: string, read: unknown): unknown {
  if (!LONG_INTEGER.test(text)) return read;
  return JSON.parse(text, (_key, value: unknown, { source = "" }: { readonly source?: string } = {}) => {
    const isRounded = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
    return isRounded ? BigInt(source) : value;
  });
}

/** JSON cannot express undefined, so no value is lost. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return readForeignJson(text, { ...JSON_LIMITS, depth: Infinity });
  } catch {
    return undefined;
  }
}

const ESCAPE_OR_CONTROL = /\\[\s\S]|"|\p{Cc}/gu;

/** Accepts unescaped control characters in strings, which some servers write. */
export function readLaxJson(text: string): unknown {
  try {
    return readForeignJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    let isInString = false;
    const escaped = text.replace(ESCAPE_OR_CONTROL, (token) => {
      if (token === '"') isInString = !isInString;
      return !isInString || token === '"' || token[0] === "\\" ? token : JSON.stringify(token).slice(1, -1);
    });
    return JSON.parse(escaped);
  }
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? value as Readonly<Record<string, unknown>> : {};
}

export function readable(value: unknown): string {
  return textOf(value, { left: Infinity });
}

export function readableHead(value: unknown, limit: number): string {
  const room = { left: limit };
  const text = textOf(value, room);
  // Each rendered value adds at least one character, so the text has reached the limit when no room is left.
  return room.left > 0 ? clip(text, limit) : `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The layout visits the parts of each level again, so JSON with more than this number of levels stays unchanged. */
const MAX_LAID_OUT = 64;

/** A part that fits into `width` becomes one line. Returns null unless the text is an object or list as
 * `JSON.stringify` writes it, compact or with two spaces. Another text could lose details, such as digits of a long
 * number. */
export function readableJson(text: string, width: number): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  let value: unknown;
  try {
    value = readForeignJson(text, { ...JSON_LIMITS, depth: MAX_LAID_OUT });
  } catch {
    return null;
  }
  const isExact = [undefined, 2].some((indent) => JSON.stringify(value, null, indent) === text.trim());
  return isExact ? laidOut(value, { indent: "", width }) : null;
}

function laidOut(value: unknown, { indent, width }: { readonly indent: string; readonly width: number }): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value), entries = Object.entries(value);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) return open + close;
  const parts = (each: (one: unknown, chars: number) => string): string[] =>
    entries.map(([key, one]) => {
      const name = isList ? "" : `${JSON.stringify(key)}: `;
      return name + each(one, name.length);
    });
  const flat = parts((one) => laidOut(one, { indent: "", width: Infinity })).join(", ");
  const line = isList ? `[${flat}]` : `{ ${flat} }`;
  if (line.length <= width) return line;
  const inner = `${indent}  `;
  const lines = parts((one, chars) => laidOut(one, { indent: inner, width: width - 3 - chars }));
  return `${open}\n${lines.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

interface Room {
  left: number;
}

function textOf(value: unknown, room: Room, around: readonly unknown[] = []): string {
  if (typeof value !== "object" || value === null) return String(value);
  const within = [...around, value];
  const shown = printable(value, room, within);
  if (typeof shown === "string") return shown;
  return JSON.stringify(value, replacer(room, within), 2) ?? Object.prototype.toString.call(value);
}

interface Ancestor {
  readonly value: unknown;
  readonly shown: unknown;
}

function replacer(room: Room, around: readonly unknown[]): (this: unknown, key: string, value: unknown) => unknown {
  const ancestors: Ancestor[] = [];
  return function (this: unknown, key: string): unknown {
    while (ancestors.length > 0 && ancestors.at(-1)?.shown !== this) ancestors.pop();
    // `JSON.stringify` has already called `toJSON`, so this function reads the value again.
    const value: unknown = Object.getOwnPropertyDescriptor(this, key)?.value;
    if (ancestors.some((one) => one.value === value)) return "[circular]";
    room.left--;
    const shown = printable(value, room, around);
    if (typeof shown === "object" && shown !== null) ancestors.push({ value, shown });
    return shown;
  };
}

function printable(value: unknown, room: Room, around: readonly unknown[]): unknown {
  const most = Math.max(0, room.left) + 1;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof RegExp || value instanceof URL) return String(value);
  if (value instanceof Map) {
    return Object.fromEntries(value.entries().take(most).map(([key, one]) => [keyText(key, room, around), one]));
  }
  if (value instanceof Set) return [...value.values().take(most)];
  if (value instanceof ArrayBuffer || value instanceof DataView) return `${value.byteLength} bytes`;
  if (ArrayBuffer.isView(value)) return Array.from((value as Uint8Array).subarray(0, most));
  if (Array.isArray(value)) return value.length > most ? value.slice(0, most) : value;
  if (most === Infinity || typeof value !== "object" || value === null) return value;
  const keys = Object.keys(value);
  if (keys.length <= most) return value;
  return Object.fromEntries(
    keys.slice(0, most).map((key) => [key, Object.getOwnPropertyDescriptor(value, key)?.value]),
  );
}

function keyText(key: unknown, room: Room, around: readonly unknown[]): string {
  if (typeof key !== "object" || key === null) return String(key);
  room.left--;
  return around.includes(key) ? "[circular]" : textOf(key, room, around);
}

export type Frozen<T> = T extends readonly (infer Item)[] ? readonly Frozen<Item>[]
  : T extends object ? { readonly [Key in keyof T]: Frozen<T[Key]> }
  : T;

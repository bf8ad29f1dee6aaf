import { createTwoFilesPatch } from "diff";
import { advised, HostCallError } from "../domain/errors.ts";
import { readable } from "../domain/kit/json.ts";
import { counted, shorten } from "../domain/kit/text.ts";

const MAX_DIFF_CHARS = 200_000;

export interface VariableDiff {
  readonly same: boolean;
  readonly changes: readonly ValueChange[] | null;
  readonly text: string;
}

const MARKS = { added: "+", removed: "-", changed: "~" } as const;

export function diffVersions({ name, from, to, before, after }: {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly before: unknown;
  readonly after: unknown;
}): VariableDiff {
  const names = [`${name} v${from}`, `${name} v${to}`] as const;
  const same = `${names[0]} and v${to} are the same`;
  if (typeof before === "string" && typeof after === "string") {
    if (before === after) return { same: true, changes: null, text: same };
    return { same: false, changes: null, text: lineDiff(names, { name, before, after }) };
  }
  const { changes, more } = valueChanges(before, after);
  if (changes.length === 0 && !more) return { same: true, changes, text: same };
  const count = `${more ? "at least " : ""}${counted(changes.length, "change")}`;
  const text = [`${names[0]} → v${to}: ${count}`, ...changes.map(line), ...(more ? ["… and there may be more"] : [])];
  return { same: false, changes, text: text.join("\n") };
}

function line({ change, path, before, after }: ValueChange): string {
  const values = [before, after].filter((value) => value !== null).join(" → ");
  return `${MARKS[change]} ${path === "" ? "value" : path.replace(/^\./, "")}: ${values}`;
}

function lineDiff(
  names: readonly [string, string],
  { name, before, after }: { readonly name: string; readonly before: string; readonly after: string },
): string {
  if (before.length + after.length > MAX_DIFF_CHARS) {
    const size = `${before.length + after.length} characters, more than the limit of ${MAX_DIFF_CHARS}`;
    throw advised(
      new HostCallError(`Cannot compare the versions of ${name}: together they have ${size}`, {
        namespace: "vis",
        symbol: "varDiff",
      }),
      "compare parts with varHistory",
    );
  }
  const diff = createTwoFilesPatch(...names, `${before}\n`, `${after}\n`, "", "", { timeout: 1000 });
  return diff?.replace(/^=+\n/, "") ?? `--- ${names[0]}\n+++ ${names[1]}\n(the texts differ too much for a diff)`;
}

const MAX_STEPS = 500_000;
const MAX_CHANGES = 200;
const MAX_PATH = 300;

interface ValueChange {
  readonly change: "added" | "removed" | "changed";
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

interface ValueChanges {
  readonly changes: readonly ValueChange[];
  readonly more: boolean;
}

export function valueChanges(before: unknown, after: unknown): ValueChanges {
  const comparison = new Comparison();
  try {
    comparison.compare(before, after, { path: "" });
    return { changes: comparison.changes, more: false };
  } catch (error) {
    if (error !== ENOUGH) throw error;
    return { changes: comparison.changes, more: true };
  }
}

const ENOUGH = new Error("Enough was compared");

type List = ArrayLike<unknown>;
type Parts = ReadonlyMap<string, unknown>;

class Comparison {
  readonly changes: ValueChange[] = [];
  /** A value may contain itself, so Vis compares each pair of objects once. */
  readonly #met = new Map<object, Set<object>>();
  #steps = 0;

  compare(before: unknown, after: unknown, { path }: { readonly path: string }): void {
    return this.#differ(opened(before), opened(after), { path });
  }

  #differ(before: unknown, after: unknown, { path }: { readonly path: string }): void {
    if (this.#isSame(before, after)) return;
    if (isObject(before) && isObject(after) && kindOf(before) === kindOf(after)) {
      if (this.#isMet(this.#met, before, after)) return;
      if (isList(before) && isList(after)) return this.#lists(before, after, { path });
      const [old, now] = [partsOf(before), partsOf(after)];
      if (old && now) return this.#parts(old, now, { path });
    }
    this.#add({ change: "changed", path, before: briefValue(before), after: briefValue(after) });
  }

  #parts(before: Parts, after: Parts, { path }: { readonly path: string }): void {
    for (const [key, value] of before) {
      if (after.has(key)) this.compare(value, after.get(key), { path: path + key });
      else this.#add({ change: "removed", path: path + key, before: briefValue(value), after: null });
    }
    for (const [key, value] of after) {
      if (!before.has(key)) this.#add({ change: "added", path: path + key, before: null, after: briefValue(value) });
    }
  }

  #lists(before: List, after: List, { path }: { readonly path: string }): void {
    const shorter = Math.min(before.length, after.length);
    let start = 0, tail = 0;
    while (start < shorter && this.#isSame(before[start], after[start])) start++;
    while (
      tail < shorter - start && this.#isSame(before[before.length - 1 - tail], after[after.length - 1 - tail])
    ) tail++;
    for (let i = start; i < Math.max(before.length, after.length) - tail; i++) {
      const [was, is] = [i < before.length - tail, i < after.length - tail];
      const at = `${path}[${i}]`;
      if (was && is) this.compare(before[i], after[i], { path: at });
      else if (was) this.#add({ change: "removed", path: at, before: briefValue(before[i]), after: null });
      else this.#add({ change: "added", path: at, before: null, after: briefValue(after[i]) });
    }
  }

  #add(change: ValueChange): void {
    if (this.changes.length >= MAX_CHANGES) throw ENOUGH;
    const path = shorten(change.path, MAX_PATH);
    this.changes.push({ ...change, path });
  }

  #isSame(one: unknown, other: unknown, met = new Map<object, Set<object>>()): boolean {
    const [a, b] = [opened(one), opened(other)];
    if (++this.#steps > MAX_STEPS) throw ENOUGH;
    if (Object.is(a, b)) return true;
    if (!isObject(a) || !isObject(b) || kindOf(a) !== kindOf(b)) return false;
    if (this.#isMet(met, a, b)) return true;
    if (isList(a) && isList(b)) {
      if (a.length !== b.length) return false;
      for (let i = 0; i < a.length; i++) if (!this.#isSame(a[i], b[i], met)) return false;
      return true;
    }
    const [before, after] = [partsOf(a), partsOf(b)];
    if (!before || !after) return readable(a) === readable(b);
    this.#steps += before.size;
    if (before.size !== after.size) return false;
    for (const [key, value] of before) {
      if (!after.has(key) || !this.#isSame(value, after.get(key), met)) return false;
    }
    return true;
  }

  #isMet(met: Map<object, Set<object>>, a: object, b: object): boolean {
    const others = met.get(a) ?? new Set();
    if (others.has(b)) return true;
    met.set(a, others.add(b));
    return false;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isList(value: object): value is object & List {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

function opened(value: unknown): unknown {
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return value instanceof DataView ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : value;
}

function kindOf(value: object): string {
  return Object.prototype.toString.call(value);
}

function partsOf(value: object): Parts | null {
  if (value instanceof Map) return numbered([...value].map(([key, item]) => [`.get(${keyText(key)})`, item]));
  if (value instanceof Set) return numbered([...value].map((item) => [`.has(${keyText(item)})`, true]));
  if (kindOf(value) !== "[object Object]") return null;
  return new Map(
    Object.entries(Object.getOwnPropertyDescriptors(value)).filter(([, { enumerable }]) => enumerable)
      .map(([key, { value: item }]) => [step(key), item]),
  );
}

function keyText(key: unknown): string {
  return typeof key === "string" ? JSON.stringify(key) : briefValue(key);
}

/** Different keys may have the same text, so equal paths get a number. */
function numbered(parts: readonly (readonly [string, unknown])[]): Parts {
  const found = new Map<string, unknown>();
  for (const [path, value] of parts) {
    let free = path;
    for (let n = 2; found.has(free); n++) free = `${path}#${n}`;
    found.set(free, value);
  }
  return found;
}

function step(key: string): string {
  return /^[$_\p{ID_Start}][$\p{ID_Continue}]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

const MAX_CHARS = 160;
const MAX_ITEMS = 6;
const MAX_DEPTH = 3;

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
  if (depth >= MAX_DEPTH) return `{${counted(keys.length, "key")}}`;
  const shown = keys.slice(0, MAX_ITEMS).map((key) =>
    `${JSON.stringify(cut(key))}: ${brief(Object.getOwnPropertyDescriptor(value, key)?.value, depth + 1)}`
  );
  return `{${[...shown, ...(keys.length > MAX_ITEMS ? [`… ${keys.length} keys`] : [])].join(", ")}}`;
}

function listed(type: string, value: object, depth: number): string {
  const list = value as unknown as ArrayLike<unknown>;
  if (depth >= MAX_DEPTH) return `${type}[${counted(list.length, "item")}]`;
  const shown: string[] = [];
  for (let i = 0; i < Math.min(list.length, MAX_ITEMS); i++) shown.push(brief(list[i], depth + 1));
  return `${type}[${[...shown, ...(list.length > MAX_ITEMS ? [`… ${list.length} items`] : [])].join(", ")}]`;
}

function cut(text: string): string {
  return shorten(text, MAX_CHARS);
}

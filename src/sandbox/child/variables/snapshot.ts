import type { VariableImage, VariableKind } from "../../../domain/query/variable.ts";
import { decode, encode } from "../../codec/codec.ts";
import { bareList } from "../../codec/intrinsics.ts";
import type { Bytes } from "../../protocol.ts";
import type { Declaration } from "../compiler/declarations.ts";
import { look } from "../realm/captured.ts";
import { isClassText, ownData, promiseState } from "../view/kinds.ts";
import { summarize } from "../view/summary.ts";
import type { KnownFunctions } from "./functions.ts";

export interface VariableSnapshot {
  readonly entry: VariableRecord;
  readonly value: unknown;
  readonly kind: VariableKind;
  readonly bytes: Bytes;
  readonly source: string;
  readonly requires: readonly string[];
  readonly reason: string;
  readonly losses: string;
  readonly hash: string;
}

const MAX_BYTES = 64 << 20;
const MAX_PRESENT_BYTES = 32 << 20;
const NO_BYTES: Bytes = new Uint8Array(0);

const LISTED_LOSSES = 3;

export interface SaveParts {
  readonly functions: KnownFunctions;
  readonly get: (name: string) => unknown;
}

class Losses {
  readonly #name: string;
  readonly #found = bareList<string>();
  #more = 0;

  constructor(name: string) {
    this.#name = name;
  }

  readonly add = (what: string, path: string): void => {
    if (this.#found.length < LISTED_LOSSES) addOnce(this.#found, `${what} ${this.#name}${path}`);
    else this.#more++;
  };

  get text(): string {
    let text = "";
    for (let i = 0; i < this.#found.length; i++) text += `${i > 0 ? ", " : ""}${this.#found[i]!}`;
    return this.#more > 0 ? `${text} and ${this.#more} more` : text;
  }
}

/** Returns null for a primitive that equals the saved value. */
export function snapshot(entry: VariableRecord, value: unknown, parts: SaveParts): VariableSnapshot | null {
  if (!isObject(value)) {
    if (typeof value === "symbol") return lost(entry, value, "Vis cannot keep a symbol");
    return look.is(value, entry.primitive) ? null : data(entry, value, parts);
  }
  if (look.isProxy(value)) return lost(entry, value, "Vis cannot keep a Proxy");
  if (typeof value === "function") return code(entry, value, parts);
  if (look.isPromise(value)) {
    if (promiseState(value).state !== "pending") {
      return lost(entry, value, "Vis cannot keep a promise (await it and keep its result)");
    }
    return { ...blank(entry, value), kind: "pending", source: entry.statement, hash: `pending:${entry.statement}` };
  }
  return parts.functions.find(value) ? code(entry, value, parts) : data(entry, value, parts);
}

function blank(entry: VariableRecord, value: unknown): VariableSnapshot {
  return { entry, value, kind: "lost", bytes: NO_BYTES, source: "", requires: [], reason: "", losses: "", hash: "" };
}

function lost(entry: VariableRecord, value: unknown, reason: string): VariableSnapshot {
  return { ...blank(entry, value), source: entry.statement, reason, hash: `lost:${reason}:${entry.statement}` };
}

function code(entry: VariableRecord, value: object, { functions }: SaveParts): VariableSnapshot {
  if (typeof value === "function") functions.learn(value, entry);
  const known = functions.find(value);
  if (known) {
    const { kind, source, requires } = known;
    const losses = new Losses(entry.name);
    const bytes = encodeOwn(value, { functions, isClass: kind === "class", lost: losses.add }) ?? NO_BYTES;
    const hash = codeHash(known, bytes);
    return { ...blank(entry, value), kind, source, requires, bytes, losses: losses.text, hash };
  }
  return lost(entry, value, whyLost(look.functionText(value)));
}

function whyLost(text: string): string {
  if (look.indexOf(text, "[native code]") >= 0) return "it is a built-in or bound function";
  if (isClassText(text)) return "it is a class that a call made, or a class that awaits something where it is declared";
  return "it is a function that a call made, whose captured values Vis cannot keep";
}

export function codeHash(code: { readonly kind: string; readonly source: string }, own: Bytes): string {
  const state = look.viewLength(own) > 0 ? `:${changeHash(own)}` : "";
  return `${code.kind}${state}:${code.source}`;
}

function data(entry: VariableRecord, value: unknown, { functions }: SaveParts): VariableSnapshot {
  const classes = bareList<string>(), losses = new Losses(entry.name);
  let rootClass = "";
  try {
    const bytes = encode(value, {
      maxBytes: MAX_BYTES,
      instanceOf: (found) => {
        const answer = functions.classOf(found);
        if ("name" in answer) {
          if (found === value) rootClass = answer.name;
          addOnce(classes, answer.name);
        }
        return answer;
      },
      lost: losses.add,
    });
    const kind = rootClass ? "instance" : "data";
    const hash = isObject(value) ? `${kind}:${changeHash(bytes)}` : changedHash(entry);
    const requires = look.setPrototypeOf(classes, look.array) as string[];
    return { ...blank(entry, value), kind, bytes, source: rootClass, requires, losses: losses.text, hash };
  } catch (error) {
    return lost(entry, value, reasonOf(error));
  }
}

export function isObject(value: unknown): value is object {
  return value !== null && (typeof value === "object" || typeof value === "function");
}

/** Hashing a large text would take a while, so a changed value gets the other of two markers. */
function changedHash(entry: VariableRecord): string {
  return entry.hash === "data" ? "data again" : "data";
}

function reasonOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "Vis cannot keep it";
  const fact: unknown = look.descriptorOf(error, "fact")?.value,
    path: unknown = look.descriptorOf(error, "path")?.value;
  if (typeof fact !== "string" || typeof path !== "string") return "Vis cannot keep it";
  return path === "" ? `it ${fact}` : `its part ${path} ${fact}`;
}

export function addOnce(list: string[], name: string): void {
  for (let i = 0; i < list.length; i++) if (list[i] === name) return;
  list[list.length] = name;
}

export function encodeTogether(snapshots: readonly VariableSnapshot[], { functions }: SaveParts): Bytes | null {
  const table: Record<string, unknown> = look.create(null);
  for (let i = 0; i < snapshots.length; i++) table[snapshots[i]!.entry.name] = snapshots[i]!.value;
  try {
    return encode(table, { maxBytes: MAX_BYTES, instanceOf: (found) => functions.classOf(found), lost: () => {} });
  } catch {
    return null;
  }
}

interface Saved {
  readonly table: { readonly bytes: Bytes; readonly hash: string } | null;
  readonly assumed: boolean;
  readonly alias: string;
}

export function imageOf(shot: VariableSnapshot, { table, assumed, alias }: Saved, parts: SaveParts): VariableImage {
  const { entry, value, kind, source, requires, reason, losses } = shot;
  entry.kind = kind;
  entry.hash = shot.hash;
  entry.tableHash = table?.hash ?? "";
  entry.tableAssumed = assumed;
  entry.alias = alias;
  entry.losses = losses;
  entry.size = look.viewLength(shot.bytes);
  entry.primitive = isObject(value) ? UNSAVED : value;
  const { name, declaration, doc } = entry;
  return {
    name,
    kind,
    bytes: table?.bytes ?? shot.bytes,
    root: table ? name : alias || null,
    source,
    requires,
    reason: reason || losses,
    summary: summarize(keptValue(shot, parts), { name, declaration, doc, source: kind === "function" ? source : "" }),
  };
}

/** The caller must pass a copy of the record. Returns null for a large value that equals its saved version. */
export function presentImage(entry: VariableRecord, value: unknown, parts: SaveParts): VariableImage | null {
  const before = { ...entry };
  entry.primitive = UNSAVED;
  const shot = snapshot(entry, value, parts)!;
  const bytes = look.viewLength(shot.bytes);
  const isSame = look.is(value, before.primitive) || shot.hash === before.hash;
  const isLarge = shot.kind === "lost" ? !isObject(value) : bytes > MAX_PRESENT_BYTES;
  if (isLarge && isSame) return null;
  const reason = `it has ${bytes} bytes, and the limit within a block is ${MAX_PRESENT_BYTES}; use it in a later block`;
  const sent = isLarge && bytes > 0 ? lost(entry, value, reason) : shot;
  return imageOf(sent, { table: null, assumed: false, alias: "" }, parts);
}

/** The index must not show parts that a restart loses, so this function decodes the stored bytes. */
function keptValue({ value, kind, losses, bytes }: VariableSnapshot, { get }: SaveParts): unknown {
  if (losses === "" || (kind !== "data" && kind !== "instance")) return value;
  try {
    return decode(bytes, { prototypeOf: (name) => prototypeOf(get(name)) ?? look.object });
  } catch {
    return value;
  }
}

export function prototypeOf(made: unknown): object | null {
  const prototype = typeof made === "function" ? ownData(made, "prototype") : null;
  return typeof prototype === "object" ? prototype : null;
}

export interface Group {
  readonly members: string[];
  readonly coarse: boolean;
}

export interface VariableRecord {
  readonly name: string;
  declaration: string;
  doc: string;
  statement: string;
  source: string;
  requires: readonly string[];
  kind: VariableKind;
  classes: readonly string[];
  hash: string;
  /** The hash is of the latest saved table, or "" if Vis saved the variable alone. */
  tableHash: string;
  tableAssumed: boolean;
  /** An earlier variable with the same function or class has this name; "" means that there is none. */
  alias: string;
  losses: string;
  primitive: unknown;
  size: number;
  group: Group | null;
}

export function newEntry(name: string): VariableRecord {
  return {
    name,
    declaration: "let",
    doc: "",
    statement: "",
    source: "",
    requires: [],
    kind: "data",
    classes: [],
    hash: "",
    tableHash: "",
    tableAssumed: false,
    alias: "",
    losses: "",
    primitive: UNSAVED,
    size: 0,
    group: null,
  };
}

export const UNSAVED: unique symbol = Symbol("unsaved");

export interface BlockNames {
  readonly declarations: readonly Declaration[];
  readonly assigned?: readonly Declaration[];
  readonly reads: readonly string[];
}

interface OwnParts {
  readonly functions: KnownFunctions;
  readonly isClass: boolean;
  readonly lost: (what: string, path: string) => void;
}

function encodeOwn(value: object, { functions, isClass, lost }: OwnParts): Bytes | null {
  const keys = look.ownKeys(value);
  let kept: Record<string, unknown> | null = null;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!, found = look.descriptorOf(value, key);
    if (!found?.enumerable) continue;
    if (typeof key === "symbol") {
      if (!isClass) lost("symbol key", `[${look.symbolText(key)}]`);
    } else if (!look.hasOwn(found, "value")) lost("getter", `.${key}`);
    else if (typeof found.value === "function") {
      if (!isClass) lost("function", `.${key}`);
    } else {
      const one: Record<string, unknown> = look.create(null);
      one[key] = found.value;
      if (!tryEncode(one, functions)) lost("value", `.${key}`);
      else (kept ??= look.create(null) as Record<string, unknown>)[key] = found.value;
    }
  }
  if (!look.isExtensible(value)) lost("frozen state of", "");
  return kept && tryEncode(kept, functions, lost);
}

function tryEncode(
  own: Record<string, unknown>,
  functions: KnownFunctions,
  lost: OwnParts["lost"] = () => {},
): Bytes | null {
  try {
    return encode(own, { maxBytes: MAX_BYTES, instanceOf: (found) => functions.classOf(found), lost });
  } catch {
    return null;
  }
}

export function bindOwn(value: object, own: object): void {
  const keys = look.keys(own);
  for (let i = 0; i < keys.length; i++) {
    const descriptor = look.setPrototypeOf({
      value: look.descriptorOf(own, keys[i]!)?.value,
      writable: true,
      enumerable: true,
      configurable: true,
    }, null);
    try {
      look.defineProperty(value, keys[i]!, descriptor);
    } catch {
      continue; // The code of the function made the property permanent.
    }
  }
}

/** Returns 64 bits and the length, which detect a change but do not protect against deliberate collisions. */
export function changeHash(bytes: Uint8Array<ArrayBuffer>): string {
  const length = look.viewLength(bytes), byteOffset = look.viewOffset(bytes);
  let a = 0x9e3779b9 ^ length, b = 0x85ebca6b, at = 0;
  if (byteOffset % 4 === 0) {
    const count = length >>> 2;
    const words = new look.Uint32Array(look.viewBuffer(bytes) as ArrayBuffer, byteOffset, count);
    for (let i = 0; i < count; i++) {
      const word = words[i]!;
      a = look.imul(a ^ word, 0x01000193) ^ (a >>> 15);
      b = look.imul(b + word, 0xcc9e2d51) ^ (b >>> 13);
    }
    at = length & ~3;
  }
  for (; at < length; at++) {
    a = look.imul(a ^ bytes[at]!, 0x01000193) ^ (a >>> 15);
    b = look.imul(b + bytes[at]!, 0xcc9e2d51) ^ (b >>> 13);
  }
  return `${length}:${a >>> 0}:${b >>> 0}`;
}

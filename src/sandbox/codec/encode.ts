import {
  CodecError,
  FORMAT,
  isIndex,
  LONG,
  MAX_NODES,
  MAX_SLOTS,
  MAX_SPARSE,
  MAX_VALUE_DEPTH,
  type Slot,
} from "./format.ts";
import { bareList, flagsOf, intrinsics as own } from "./intrinsics.ts";

export interface EncodeOptions {
  /** Limit of the result. If it is exceeded, the error's `tooLarge` is true. Unlimited if absent. */
  readonly maxBytes?: number;
  /** Limit of the slots of the table (format.ts). If it is exceeded, the error's `tooLarge` is true. */
  readonly maxSlots?: number;
  /** Names the class of an object whose prototype is neither plain nor built in, or returns why it cannot be kept. If
   * absent, such objects become plain data. Must not run code of the value. */
  readonly instanceOf?: (value: object) => { readonly name: string } | { readonly reason: string };
  /** Makes the bytes keep what objects have besides plain properties: hidden and read-only ones, and whether they are
   * frozen. Called with each part that the bytes cannot keep, such as "getter" and ".total". */
  readonly lost?: (what: string, path: string) => void;
}

/** A property that is hidden or read-only. */
interface Unusual {
  readonly key: string;
  readonly value: unknown;
  readonly attributes: number;
}

interface Shape {
  readonly keys: readonly string[];
  readonly bare: boolean;
}

const RECENT_SHAPES = 8;
const WRITABLE = 1, ENUMERABLE = 2, CONFIGURABLE = 4;
/** Attributes of an ordinary property, by what its object is: 0 extensible, 1 not extensible, 2 sealed, 3 frozen. */
const USUAL = [7, 7, WRITABLE | ENUMERABLE, ENUMERABLE] as const;
/** Own keys of longer arrays are not listed, which would cost more than everything else: properties besides the items
 * are dropped. */
const LISTED_ITEMS = 4096;

/** For one use. Breadth first with a queue, so that neither depth nor cycles use the stack. */
export class Encoder {
  readonly #options: EncodeOptions;
  readonly #limit: number;
  readonly #slots = bareList<Slot>();
  readonly #queue = bareList<object>();
  readonly #parents = bareList<number>();
  readonly #names = bareList<string | number>();
  readonly #seen = new own.Map<object, number>();
  readonly #shapes = bareList<Shape>();
  readonly #scratch = bareList<unknown>();
  readonly segments: SegmentWriter;
  readonly #unusual = bareList<Unusual>();
  /** Index in USUAL of the current object. */
  #level: 0 | 1 | 2 | 3 = 0;
  #current = -1;
  #textSize = 0;

  constructor(options: EncodeOptions) {
    this.#options = options;
    this.#limit = options.maxBytes ?? Infinity;
    this.segments = new SegmentWriter(FORMAT, (size) => this.#checkSize(size));
  }

  encode(root: unknown): Uint8Array<ArrayBuffer> {
    this.slot(root, "");
    let levelEnd = 0, depth = -1;
    for (let i = 0; i < this.#queue.length; i++) {
      this.#current = i;
      if (i === levelEnd) {
        levelEnd = this.#queue.length;
        if (++depth > MAX_VALUE_DEPTH) this.refuse(`deeper than ${MAX_VALUE_DEPTH} levels`);
      }
      this.#record(this.#queue[i]!);
      this.#checkSize(this.segments.used + this.#slots.length * 2 + this.#textSize);
      this.#checkSlots(this.#slots.length);
    }
    return this.segments.finish(this.#tableText());
  }

  #tableText(): string {
    try {
      return own.stringify(this.#slots);
    } catch {
      throw new CodecError({ what: "its text is longer than a string can be", path: "", tooLarge: true });
    }
  }

  #checkSize(size: number): void {
    if (size <= this.#limit) return;
    const what = `at least ${size} bytes, the limit is ${this.#limit}`;
    throw new CodecError({ what, path: "", tooLarge: true });
  }

  #checkSlots(slots: number): void {
    const { maxSlots = MAX_SLOTS } = this.#options;
    if (slots > maxSlots) throw new CodecError({ what: `more than ${maxSlots} values`, path: "", tooLarge: true });
  }

  put(slot: Slot): void {
    this.#slots[this.#slots.length] = slot;
    if (typeof slot === "string") this.#textSize += slot.length;
  }

  /** Refuses the current object, or the part of it at `name`. */
  refuse(what: string, name: string | number = ""): never {
    throw new CodecError({ what, path: this.#path(pathStep(name)) });
  }

  /** Reports a part of the current object that the bytes do not keep. */
  lose(what: string, key: PropertyKey = ""): void {
    const { lost } = this.#options;
    if (!lost) return;
    lost(what, this.#path(typeof key === "symbol" ? `[${own.slice(own.symbolText(key), 0, 60)}]` : pathStep(key)));
  }

  #path(last: string): string {
    let path = last;
    for (let i = this.#current; i >= 0; i = this.#parents[i]!) path = pathStep(this.#names[i]!) + path;
    return path.length > 300 ? `${own.slice(path, 0, 100)}…${own.slice(path, path.length - 150)}` : path;
  }

  slot(value: unknown, name: string | number): void {
    switch (typeof value) {
      case "string":
        return this.put(value.length < LONG ? escaped(value) : this.segments.text(value));
      case "number":
        return this.put(value - value === 0 && (value !== 0 || 1 / value > 0) ? value : specialNumber(value));
      case "boolean":
        return this.put(value);
      case "undefined":
        return this.put("~u");
      case "bigint":
        return this.put("~b" + own.hex(value, 16));
      case "object":
        return this.put(value === null ? null : this.#reference(value, name));
      default:
        this.refuse(`a ${typeof value}`, name);
    }
  }

  #reference(value: object, name: string | number): string {
    const queued = this.#queue.length;
    const at = this.index(value, name);
    return at === queued ? "~" : "~@" + at;
  }

  /** The number of an object; a new object is queued. */
  index(value: object, name: string | number): number {
    const known = own.mapGet(this.#seen, value) as number | undefined;
    if (known !== undefined) return known;
    const at = this.#queue.length;
    if (at >= MAX_NODES) this.refuse(`more than ${MAX_NODES} objects`);
    own.mapSet(this.#seen, value, at);
    this.#queue[at] = value;
    this.#parents[at] = this.#current;
    this.#names[at] = name;
    return at;
  }

  #record(value: object): void {
    if (own.isProxy(value)) this.refuse("a Proxy");
    if (this.#options.lost) this.#level = levelOf(value);
    this.#content(value);
    if (this.#unusual.length > 0) this.#putUnusual();
    if (this.#level === 0) return;
    this.put("!");
    this.put(this.#level);
  }

  #content(value: object): void {
    const prototype = own.prototypeOf(value);
    if (own.isArray(value)) return this.#array(value, prototype);
    if (prototype === null || prototype === own.object) {
      if (isPlain(value)) return this.object(value, prototype === null);
    }
    writeSpecial(this, value);
  }

  object(value: object, bare: boolean): void {
    const keys = this.#keys(value), values = this.#scratch;
    let count = 0;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!, descriptor = own.descriptorOf(value, key);
      if (!this.#isUsual(key, descriptor)) continue;
      values[count] = descriptor!.value;
      keys[count++] = key;
    }
    keys.length = count;
    this.#shape(keys as string[], bare);
    for (let i = 0; i < count; i++) this.slot(values[i], keys[i] as string);
  }

  #keys(value: object): PropertyKey[] {
    return this.#options.lost ? own.ownKeys(value) : own.keys(value);
  }

  /** Whether it is a property that the record takes as it is. Others are put aside, or reported as lost. */
  #isUsual(key: PropertyKey, descriptor: PropertyDescriptor | undefined): key is string {
    if (typeof key === "symbol") this.lose("symbol key", key);
    else if (!hasValue(descriptor)) this.lose("getter", key);
    else if (!this.#options.lost) return true;
    else {
      const attributes = attributesOf(descriptor);
      if (attributes === USUAL[this.#level]) return true;
      if (typeof key === "string") this.#unusual[this.#unusual.length] = { key, value: descriptor.value, attributes };
      else this.lose("read-only item", key);
    }
    return false;
  }

  #putUnusual(): void {
    this.put("=");
    this.put(this.#unusual.length);
    for (let i = 0; i < this.#unusual.length; i++) {
      const { key, value, attributes } = this.#unusual[i]!;
      this.put(key);
      this.slot(value, key);
      this.put(attributes);
    }
    this.#unusual.length = 0;
  }

  #shape(keys: readonly string[], bare: boolean): void {
    const { length } = this.#shapes;
    for (let i = length - 1; i >= 0 && i >= length - RECENT_SHAPES; i--) {
      const shape = this.#shapes[i]!;
      if (shape.bare !== bare || !sameKeys(shape.keys, keys)) continue;
      this.put("O");
      return this.put(i);
    }
    this.#shapes[length] = { keys, bare };
    this.put(bare ? "q" : "o");
    this.put(keys.length);
    for (let i = 0; i < keys.length; i++) this.put(keys[i]!);
  }

  #array(value: readonly unknown[], prototype: object | null): void {
    const { length } = value;
    if (isSparse(value)) {
      if (length > MAX_SPARSE) this.refuse(`a sparse array of length ${length}`);
      this.put("P");
      this.put(length);
      this.#pairs(value, false);
    } else {
      this.#checkSlots(this.#slots.length + length);
      this.put("A");
      this.put(length);
      for (let i = 0; i < length; i++) {
        const descriptor = own.descriptorOf(value, i);
        if (hasValue(descriptor)) {
          if (this.#options.lost && attributesOf(descriptor) !== USUAL[this.#level]) this.lose("read-only item", i);
          this.slot(descriptor.value, i);
        } else {
          if (descriptor) this.lose("getter", i);
          this.put("~h");
        }
      }
      if (length <= LISTED_ITEMS || prototype !== own.array) this.extras(value, true);
    }
    if (prototype !== own.array) this.instance(value);
  }

  /** Own properties that the record does not contain yet. */
  extras(value: object, skipItems: boolean): void {
    const keys = this.#keys(value), last = keys[keys.length - 1];
    if (last === undefined || (skipItems && (last === "length" || isItem(last)))) return;
    const at = this.#slots.length;
    this.put("+");
    if (this.#pairs(value, skipItems) === 0) this.#slots.length = at;
  }

  #pairs(value: object, skipItems: boolean): number {
    const keys = this.#keys(value);
    const at = this.#slots.length;
    let count = 0;
    this.put(0);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      if (isBuiltIn(value, key) || (skipItems && isItem(key))) continue;
      const descriptor = own.descriptorOf(value, key);
      if (!this.#isUsual(key, descriptor)) continue;
      count++;
      this.put(key);
      this.slot(descriptor!.value, key);
    }
    this.#slots[at] = count;
    return count;
  }

  /** Names the class of an object with its own prototype, if the caller requests that. */
  instance(value: object): void {
    const { instanceOf } = this.#options;
    if (!instanceOf) return;
    const found = instanceOf(value);
    if ("reason" in found) this.refuse(found.reason);
    this.put("C");
    this.put(found.name);
  }
}

function levelOf(value: object): 0 | 1 | 2 | 3 {
  if (own.isExtensible(value)) return 0;
  return own.isFrozen(value) ? 3 : own.isSealed(value) ? 2 : 1;
}

function attributesOf({ writable, enumerable, configurable }: PropertyDescriptor): number {
  return (writable ? WRITABLE : 0) | (enumerable ? ENUMERABLE : 0) | (configurable ? CONFIGURABLE : 0);
}

function isItem(key: PropertyKey): boolean {
  return typeof key === "string" && isIndex(key);
}

/** A property that the language or the runtime gives every object of its kind. */
function isBuiltIn(value: object, key: PropertyKey): boolean {
  if (key === "length") return own.isArray(value);
  if (key === "lastIndex") return own.isRegExp(value);
  for (let i = 0; i < own.urlKeys.length; i++) if (own.urlKeys[i] === key) return true;
  return false;
}

/** Writes the record of an object that is neither an array nor plain. */
function writeSpecial(encoder: Encoder, value: object): void {
  const prototype = own.prototypeOf(value);
  let usual: object | null = prototype;
  if (own.isNativeError(value)) return writeError(encoder, value);
  if (own.isView(value)) return writeView(encoder, value);
  if (own.isMap(value)) usual = writeMap(encoder, value);
  else if (own.isSet(value)) usual = writeSet(encoder, value);
  else if (own.isArrayBuffer(value)) usual = writeBuffer(encoder, value);
  else if (own.isDate(value)) usual = writeDate(encoder, value);
  else if (own.isRegExp(value)) usual = writeRegExp(encoder, value);
  else if (isUrl(value)) usual = writeUrl(encoder, value);
  else {
    const what = builtIn(value);
    if (what) encoder.refuse(what);
    encoder.object(value, false);
    return encoder.instance(value);
  }
  encoder.extras(value, false);
  if (usual !== prototype) encoder.instance(value);
}

function writeMap(encoder: Encoder, value: ReadonlyMap<unknown, unknown>): object {
  const entries = bareList<unknown>();
  own.mapEach(value as Map<unknown, unknown>, (item: unknown, key: unknown) => {
    entries[entries.length] = key;
    entries[entries.length] = item;
  });
  encoder.put("M");
  encoder.put(entries.length / 2);
  for (let i = 0; i < entries.length; i++) encoder.slot(entries[i], `<${i % 2 ? "value" : "key"} ${i >> 1}>`);
  return own.map;
}

function writeSet(encoder: Encoder, value: ReadonlySet<unknown>): object {
  const items = bareList<unknown>();
  own.setEach(value as Set<unknown>, (item: unknown) => {
    items[items.length] = item;
  });
  encoder.put("E");
  encoder.put(items.length);
  for (let i = 0; i < items.length; i++) encoder.slot(items[i], `<item ${i}>`);
  return own.set;
}

function writeDate(encoder: Encoder, value: Date): object {
  encoder.put("D");
  encoder.slot(own.time(value), "");
  return own.date;
}

function writeRegExp(encoder: Encoder, value: RegExp): object {
  const last: unknown = own.descriptorOf(value, "lastIndex")?.value;
  encoder.put("R");
  encoder.slot(own.source(value), "source");
  encoder.put(flagsOf(value));
  encoder.put(typeof last === "number" && last >= 0 && last < 2 ** 31 ? last | 0 : 0);
  return own.regExp;
}

function writeUrl(encoder: Encoder, value: object): object {
  encoder.put("U");
  encoder.slot(own.href(value), "href");
  return own.url;
}

/** Name, message, cause and own data properties with their enumerability. Never the stack, which contains our file
 * names. */
function writeError(encoder: Encoder, value: object): void {
  const prototype = own.prototypeOf(value);
  const base = errorBase(prototype);
  if (prototype === own.domException) return writeDomException(encoder, value);
  const keys = own.ownKeys(value);
  const kept = bareList<string>();
  const found = bareList<PropertyDescriptor>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key === "stack") continue;
    const descriptor = own.descriptorOf(value, key!);
    if (typeof key !== "string" || !hasValue(descriptor)) {
      encoder.lose(typeof key === "symbol" ? "symbol key" : "getter", key!);
      continue;
    }
    found[kept.length] = descriptor;
    kept[kept.length] = key;
  }
  encoder.put("X");
  encoder.put(base);
  encoder.put(kept.length);
  for (let i = 0; i < kept.length; i++) {
    encoder.put(kept[i]!);
    encoder.slot(found[i]!.value, kept[i]!);
    encoder.put(found[i]!.enumerable === true);
  }
  if (prototype !== own.errorPrototypes[base]) encoder.instance(value);
}

/** Decoded as an Error of that name: its class cannot be set on an existing object. */
function writeDomException(encoder: Encoder, value: object): void {
  encoder.lose("class DOMException");
  encoder.put("X");
  encoder.put("Error");
  encoder.put(2);
  encoder.put("name");
  encoder.slot(own.domExceptionName(value), "name");
  encoder.put(false);
  encoder.put("message");
  encoder.slot(own.domExceptionMessage(value), "message");
  encoder.put(false);
}

function errorBase(prototype: object | null): string {
  for (let p = prototype, i = 0; p !== null && i < 100 && !own.isProxy(p); p = own.prototypeOf(p), i++) {
    for (const name in own.errorPrototypes) if (own.errorPrototypes[name] === p) return name;
  }
  return "Error";
}

function writeBuffer(encoder: Encoder, value: ArrayBuffer): object {
  const size = own.bufferBytes(value);
  if (own.isResizable(value)) encoder.lose("resizable buffer");
  encoder.put("B");
  encoder.put(size === 0 ? 0 : encoder.segments.bytes(new own.Uint8Array(value)));
  encoder.put(size);
  return own.arrayBuffer;
}

function writeView(encoder: Encoder, value: object): void {
  const name = own.isTypedArray(value) ? own.viewTag(value) : "DataView";
  if (name === undefined || !own.viewConstructors[name]) return encoder.refuse("a view of an unknown kind");
  const data = name === "DataView";
  const buffer = data ? own.dataBuffer(value) : own.viewBuffer(value);
  if (!own.isArrayBuffer(buffer)) return encoder.refuse("shared memory");
  encoder.put("V");
  encoder.put(name);
  encoder.put(own.bufferBytes(buffer) === 0 ? 0 : data ? own.dataOffset(value) : own.viewOffset(value));
  encoder.put(own.bufferBytes(buffer) === 0 ? 0 : data ? own.dataBytes(value) : own.viewLength(value));
  encoder.put(encoder.index(buffer, "buffer"));
  if (data || own.viewLength(value) <= LISTED_ITEMS) encoder.extras(value, true);
  if (own.prototypeOf(value) !== own.viewPrototypes[name]) encoder.instance(value);
}

function isUrl(value: object): boolean {
  for (let p = own.prototypeOf(value), i = 0; p !== null && i < 20 && !own.isProxy(p); p = own.prototypeOf(p), i++) {
    if (p !== own.url) continue;
    try {
      return own.href(value).length > 0;
    } catch {
      return false; // an object that only inherits from URL.prototype
    }
  }
  return false;
}

/** The kind of a built-in object that cannot be kept, or null for an instance of a user's class. Prototypes of the
 * language and of the host carry their name as a data property under Symbol.toStringTag. */
function builtIn(value: object): string | null {
  if (own.isBoxed(value)) return "a boxed primitive";
  if (own.isPromise(value)) return "a promise";
  let p = own.prototypeOf(value);
  for (let i = 0; p !== null && i < 100; i++) {
    if (own.isProxy(p)) return "an object with a Proxy as prototype";
    const tag: unknown = own.descriptorOf(p, own.toStringTag)?.value;
    if (typeof tag === "string") return `a built-in object (${own.slice(tag, 0, 60)})`;
    p = own.prototypeOf(p);
  }
  return null;
}

/** Room for a small table, so that a long text is not copied again to append it. */
const SLACK = 1024;
const FIRST = 512;

/** The bytes of an encoding under construction: format byte, segments, then the table and its length. Text is encoded
 * in place, so 100 MB of it are copied once. */
class SegmentWriter {
  #bytes = new own.Uint8Array(FIRST);
  /** Length of `#bytes`; its own `length` is a getter that foreign code may replace. */
  #room = FIRST;
  #used = 1;
  readonly #check: (size: number) => void;

  /** `check` throws if the size exceeds the caller's limit. */
  constructor(format: number, check: (size: number) => void) {
    this.#bytes[0] = format;
    this.#check = check;
  }

  get used(): number {
    return this.#used;
  }

  /** The slot for a text of any length. */
  text(value: string): string {
    this.#check(this.#used + value.length);
    const at = this.#used;
    if (own.isWellFormed(value)) {
      this.#write(value);
      return `~s${at}:${this.#used - at}`;
    }
    const units = new own.Uint16Array(value.length);
    for (let i = 0; i < value.length; i++) units[i] = own.charCodeAt(value, i);
    this.#append(new own.Uint8Array(own.viewBuffer(units) as ArrayBuffer));
    return `~S${at}:${this.#used - at}`;
  }

  /** Copies `bytes`; returns their offset. */
  bytes(bytes: Uint8Array<ArrayBuffer>): number {
    const at = this.#used;
    this.#check(at + own.viewLength(bytes));
    this.#append(bytes);
    return at;
  }

  finish(table: string): Uint8Array<ArrayBuffer> {
    const at = this.#used;
    this.#reserve(table.length + 4);
    this.#write(table);
    const size = this.#used - at;
    this.#reserve(4);
    for (let i = 0; i < 4; i++) this.#bytes[this.#used++] = (size >>> (8 * i)) & 255;
    this.#check(this.#used);
    const whole = new own.Uint8Array(this.#buffer, 0, this.#used);
    if (this.#room - this.#used <= this.#used / 8) return whole;
    const exact = new own.Uint8Array(this.#used);
    own.bytesSet(exact, whole, 0);
    return exact;
  }

  #write(text: string): void {
    this.#reserve(text.length);
    let rest = text;
    while (rest.length > 0) {
      const into = new own.Uint8Array(this.#buffer, this.#used);
      const { read, written } = own.encodeInto(rest, into);
      this.#used += written;
      if (read === rest.length) return;
      rest = own.slice(rest, read);
      this.#reserve(rest.length * 3);
    }
  }

  #append(bytes: Uint8Array<ArrayBuffer>): void {
    const size = own.viewLength(bytes);
    this.#reserve(size);
    own.bytesSet(this.#bytes, bytes, this.#used);
    this.#used += size;
  }

  #reserve(more: number): void {
    if (this.#used + more <= this.#room) return;
    const needed = this.#used + more + SLACK, double = this.#room * 2;
    const room = needed > 1 << 20 || double < needed ? needed : double;
    const grown = new own.Uint8Array(room);
    own.bytesSet(grown, new own.Uint8Array(this.#buffer, 0, this.#used), 0);
    this.#bytes = grown;
    this.#room = room;
  }

  get #buffer(): ArrayBuffer {
    return own.viewBuffer(this.#bytes) as ArrayBuffer;
  }
}

const TILDE = 126, ZERO = 48, NINE = 57;

function escaped(text: string): string {
  return text.length > 0 && own.charCodeAt(text, 0) === TILDE ? "~" + text : text;
}

function specialNumber(value: number): string {
  if (value !== value) return "~n";
  if (value === 0) return "~0";
  return value > 0 ? "~i" : "~j";
}

/** Whether it is a data property; accessors are not. */
function hasValue(descriptor: PropertyDescriptor | undefined): descriptor is PropertyDescriptor {
  return descriptor !== undefined && own.hasOwn(descriptor, "value");
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** Checks a sample: a loop over a sparse array of length 4e9 would not end. */
function isSparse(value: readonly unknown[]): boolean {
  const { length } = value;
  if (length <= 64) return false;
  let holes = 0;
  for (let i = 0; i < 32; i++) if (!own.descriptorOf(value, (i * length) / 32 >>> 0)) holes++;
  return holes > 16;
}

/** Foreign code may have given a built-in object a plain prototype; encoded as plain data, its content would be lost. */
function isPlain(value: object): boolean {
  return !(own.isMap(value) || own.isSet(value) || own.isNativeError(value) || own.isDate(value) ||
    own.isRegExp(value) || own.isArrayBuffer(value) || own.isView(value) || own.isBoxed(value) || own.isPromise(value));
}

function pathStep(name: string | number): string {
  if (name === "") return "";
  if (typeof name === "number") return `[${name}]`;
  if (own.charCodeAt(name, 0) === 60) return name;
  return isIdentifier(name) ? `.${name}` : `[${own.stringify(own.slice(name, 0, 60))}]`;
}

function isIdentifier(name: string): boolean {
  for (let i = 0; i < name.length; i++) {
    const c = own.charCodeAt(name, i);
    const letter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36 || c > 127;
    if (!letter && (i === 0 || c < ZERO || c > NINE)) return false;
  }
  return name.length <= 60;
}

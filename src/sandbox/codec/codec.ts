import { bareList, flagsOf, intrinsics, intrinsics as own } from "./intrinsics.ts";

/** Throws `CodecError` for a value that the codec does not support, and above the limits of depth, objects and size.
 * Without `lost`, accessors and symbol keys disappear silently. */
export function encode(value: unknown, options: EncodeOptions = {}): Uint8Array<ArrayBuffer> {
  return new Encoder(options).encode(value);
}

/** Throws `CodecError` for malformed bytes. Hostile bytes are safe: memory stays proportional to their size, and no
 * setter runs. */
export function decode(bytes: Uint8Array<ArrayBuffer>, options: DecodeOptions = {}): unknown {
  return new Decoder(bytes, options).decode();
}

/** Returns the length of the table, which bounds the number of values, or 0 for fewer than four bytes. */
export function tableBytes(bytes: Uint8Array<ArrayBuffer>): number {
  return bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true);
}

interface EncodeOptions {
  readonly maxBytes?: number;
  readonly maxSlots?: number;
  /** The function must not run code of the value. Without this function, instances lose their class. */
  readonly instanceOf?: (value: object) => { readonly name: string } | { readonly reason: string };
  /** With this function, the bytes also keep hidden and read-only properties, and whether objects are frozen. The
   * arguments name a lost part, such as "getter" and ".total". */
  readonly lost?: (what: string, path: string) => void;
}

interface DecodeOptions {
  readonly maxSlots?: number;
  /** Null refuses the bytes. Without this function, instances lose their class. */
  readonly prototypeOf?: (name: string) => object | null;
}

export class CodecError extends TypeError {
  override readonly name = "CodecError";
  readonly what: string;
  readonly fact: string;
  /** The path, such as `.a[3].b`, is "" for the value itself, and null while decoding. */
  readonly path: string | null;
  readonly tooLarge: boolean;
  constructor(
    { what, verb = "is", path, tooLarge = false }: {
      readonly what: string;
      readonly verb?: "is" | "has";
      readonly path: string | null;
      readonly tooLarge?: boolean;
    },
  ) {
    const fact = `${verb} ${what}`;
    super(
      path === null ? `Cannot decode the bytes: they contain ${what}` : `Cannot encode the value${path}: it ${fact}`,
    );
    this.what = what;
    this.fact = fact;
    this.path = path;
    this.tooLarge = tooLarge;
  }
}

/** Format 1 of the codec: `1 | segments | table (UTF-8 JSON) | length of the table, u32 LE`.
 *
 * The table is one flat JSON array of scalars: the root's slot, then one record for each object, breadth first.
 *
 * slot    number, boolean, null or a string that does not start with "~" mean themselves; "~~…" is the string
 *         "~…"; "~u" undefined, "~h" a hole, "~n" NaN, "~i" Infinity, "~j" -Infinity, "~0" -0, "~b<hex>" a BigInt,
 *         "~s<at>:<n>" UTF-8 and "~S<at>:<n>" UTF-16 text in the segments, "~" the next new object,
 *         "~@<index>" an earlier object.
 * record  "o", n, keys…, slots… object whose keys make a new shape ("q": with null prototype); "O", shape, slots… one
 *         more of a shape; "A", n, slots… array; "P", length, n, (key, slot)… sparse array; "M", n, (key, value)… Map;
 *         "E", n, slots… Set; "D", slot Date; "R", source, flags, lastIndex RegExp; "X", base, n, (key, slot,
 *         enumerable)… Error; "B", at, n ArrayBuffer; "V", name, offset, length, index of its buffer; "U", href URL.
 * after a record   "+", n, (key, slot)… further own properties; "C", name: instance of that class, or a result of that
 *         name, as ":search.find"; "=", n, (key, slot, attributes)… properties that are hidden or read-only (bits: 1
 *         writable, 2 enumerable, 4 configurable); "!", 1 not extensible, 2 sealed, 3 frozen. */
const FORMAT = 1;
const LONG = 1024;
const MAX_VALUE_DEPTH = 1000;
const MAX_NODES = 5_000_000;
const MAX_SLOTS = 32_000_000;
const MAX_SPARSE = 5_000_000;

type Slot = string | number | boolean | null;

function isIndex(key: string): boolean {
  if (key.length === 0 || key.length > 10 || (key.length > 1 && intrinsics.charCodeAt(key, 0) === 48)) return false;
  for (let i = 0; i < key.length; i++) {
    const code = intrinsics.charCodeAt(key, i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

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
const USUAL = [7, 7, WRITABLE | ENUMERABLE, ENUMERABLE] as const;
/** Listing the keys of a longer array would take long. */
const LISTED_ITEMS = 4096;

/** A queue replaces recursion, so that neither depth nor cycles use the stack. */
class Encoder {
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
      throw new CodecError({ what: "longer than a string can be", path: "", tooLarge: true });
    }
  }

  #checkSize(size: number): void {
    if (size <= this.#limit) return;
    const what = `at least ${size} bytes; the limit is ${this.#limit}`;
    throw new CodecError({ what, verb: "has", path: "", tooLarge: true });
  }

  #checkSlots(slots: number): void {
    const { maxSlots = MAX_SLOTS } = this.#options;
    if (slots > maxSlots) {
      throw new CodecError({ what: `more than ${maxSlots} values`, verb: "has", path: "", tooLarge: true });
    }
  }

  put(slot: Slot): void {
    this.#slots[this.#slots.length] = slot;
    if (typeof slot === "string") this.#textSize += slot.length;
  }

  refuse(what: string, name: string | number = ""): never {
    throw new CodecError({ what, path: this.#path(pathStep(name)) });
  }

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

  index(value: object, name: string | number): number {
    const known = own.mapGet(this.#seen, value) as number | undefined;
    if (known !== undefined) return known;
    const at = this.#queue.length;
    if (at >= MAX_NODES) throw new CodecError({ what: `more than ${MAX_NODES} objects`, verb: "has", path: "" });
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
      if (isPlain(value)) {
        this.object(value, prototype === null);
        const result = this.#options.instanceOf ? own.resultName(value) : undefined;
        return result === undefined ? undefined : this.#putClass(result);
      }
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

  instance(value: object): void {
    const { instanceOf } = this.#options;
    if (!instanceOf) return;
    const found = instanceOf(value);
    if ("reason" in found) this.refuse(found.reason);
    this.#putClass(found.name);
  }

  #putClass(name: string): void {
    this.put("C");
    this.put(name);
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

function isBuiltIn(value: object, key: PropertyKey): boolean {
  if (key === "length") return own.isArray(value);
  if (key === "lastIndex") return own.isRegExp(value);
  for (let i = 0; i < own.urlKeys.length; i++) if (own.urlKeys[i] === key) return true;
  return false;
}

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

/** The stack contains file names of Vis, so the bytes omit the stack. */
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

/** No existing object can become a DOMException, so the decoder makes an Error with this name and message. */
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
      return false; // The object only inherits from URL.prototype.
    }
  }
  return false;
}

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

const SLACK = 1024;
const FIRST = 512;

class SegmentWriter {
  #bytes = new own.Uint8Array(FIRST);
  /** Caches the length of `#bytes`, because foreign code may replace the getter `length`. */
  #room = FIRST;
  #used = 1;
  readonly #check: (size: number) => void;

  constructor(format: number, check: (size: number) => void) {
    this.#bytes[0] = format;
    this.#check = check;
  }

  get used(): number {
    return this.#used;
  }

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

const TILDE = 126, COLON = 58, ZERO = 48, NINE = 57;

function escaped(text: string): string {
  return text.length > 0 && own.charCodeAt(text, 0) === TILDE ? "~" + text : text;
}

function specialNumber(value: number): string {
  if (value !== value) return "~n";
  if (value === 0) return "~0";
  return value > 0 ? "~i" : "~j";
}

function hasValue(descriptor: PropertyDescriptor | undefined): descriptor is PropertyDescriptor {
  return descriptor !== undefined && own.hasOwn(descriptor, "value");
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** A loop over a sparse array of length 4e9 would take too long, so a sample decides. */
function isSparse(value: readonly unknown[]): boolean {
  const { length } = value;
  if (length <= 64) return false;
  let holes = 0;
  for (let i = 0; i < 32; i++) if (!own.descriptorOf(value, (i * length) / 32 >>> 0)) holes++;
  return holes > 16;
}

/** Foreign code may have given a built-in object, such as a Map, the prototype of plain objects. */
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

interface View {
  readonly node: number;
  readonly name: string;
  readonly offset: number;
  readonly length: number;
  readonly buffer: number;
}

const HOLE = Symbol("hole");

class Decoder {
  readonly #options: DecodeOptions;
  readonly #table: TableReader;
  readonly #made = bareList<object>();
  /** False if a prototype of arrays has an index, whose setter an assignment could run. */
  readonly #plainItems: boolean;
  readonly #views = bareList<View>();
  #next = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>, options: DecodeOptions) {
    this.#options = options;
    const first = own.ownKeys(own.array)[0], base = own.ownKeys(own.object)[0];
    this.#plainItems = typeof first === "string" && !isIndex(first) && typeof base === "string" && !isIndex(base);
    try {
      this.#table = new TableReader(bytes, { format: FORMAT, maxSlots: options.maxSlots });
    } catch (error) {
      throw error instanceof CodecError ? error : new CodecError({ what: "a table that is not JSON", path: null });
    }
  }

  decode(): unknown {
    try {
      return this.#decode();
    } catch (error) {
      if (error instanceof CodecError) throw error;
      return badBytes("an invalid record");
    }
  }

  #decode(): unknown {
    const table = this.#table;
    table.skip(1);
    while (!table.ended) this.#make(table.raw());
    this.#makeViews();
    table.at = 0;
    table.forgetShapes();
    const root = this.#value();
    let levelEnd = 0, depth = -1;
    for (let i = -1; !table.ended;) {
      const tag = table.raw();
      if (tag === "+") this.#pairs(this.#made[i] ?? badBytes("properties without an object"), false);
      else if (tag === "=") this.#unusual(this.#made[i] ?? badBytes("properties without an object"));
      else if (tag === "!") this.#close(this.#made[i] ?? badBytes("a state without an object"));
      else if (tag === "C") this.#instance(this.#made[i] ?? badBytes("a class without an object"));
      else {
        if (++i >= this.#next) badBytes("an object that nothing refers to");
        if (i === levelEnd) {
          levelEnd = this.#next;
          if (++depth > MAX_VALUE_DEPTH) badBytes(`more than ${MAX_VALUE_DEPTH} nested levels`);
        }
        this.#fill(tag, i);
      }
    }
    if (this.#next !== this.#made.length) badBytes("an object without a record");
    return root;
  }

  #add(value: object): void {
    if (this.#made.length >= MAX_NODES) badBytes(`more than ${MAX_NODES} objects`);
    this.#made[this.#made.length] = value;
  }

  #make(tag: unknown): void {
    const table = this.#table;
    switch (tag) {
      case "o":
      case "q":
      case "O": {
        const shape = tag === "O" ? table.shape() : table.newShape(tag === "q");
        this.#add(shape.bare ? own.create(null) : {});
        return table.skip(shape.keys.length);
      }
      case "A":
        this.#add([]);
        return table.skip(table.count(1));
      case "P":
        this.#add([]);
        table.skip(1);
        return table.skip(table.count(2) * 2);
      case "M":
        this.#add(new own.Map());
        return table.skip(table.count(2) * 2);
      case "E":
        this.#add(new own.Set());
        return table.skip(table.count(1));
      case "+":
        return table.skip(table.count(2) * 2);
      case "=":
        return table.skip(table.count(3) * 3);
      case "C":
      case "!":
        return table.skip(1);
      default:
        return this.#makeLeaf(tag);
    }
  }

  #makeLeaf(tag: unknown): void {
    const table = this.#table;
    switch (tag) {
      case "D": {
        const time = table.primitive(table.raw());
        return this.#add(new own.Date(typeof time === "number" ? time : badBytes("a date that is not a number")));
      }
      case "R":
        this.#add(new own.RegExp(this.#text(), table.string()));
        return table.skip(1);
      case "U":
        return this.#add(new own.URL(this.#text()));
      case "B": {
        const from = table.int();
        return this.#add(table.copy(from, table.int()).buffer);
      }
      case "V": {
        const [node, name] = [this.#made.length, table.string()];
        this.#views[this.#views.length] = { node, name, offset: table.int(), length: table.int(), buffer: table.int() };
        return this.#add(own.create(null));
      }
      case "X": {
        const base = own.errorPrototypes[table.string()] ?? badBytes("an unknown error");
        const error = new own.Error();
        if (base !== own.prototypeOf(error)) own.setPrototypeOf(error, base);
        this.#add(error);
        return table.skip(table.count(3) * 3);
      }
      default:
        badBytes("an unknown record");
    }
  }

  #text(): string {
    const text = this.#table.primitive(this.#table.string());
    return typeof text === "string" ? text : badBytes("a name that is not text");
  }

  #makeViews(): void {
    for (let i = 0; i < this.#views.length; i++) {
      const { node, name, offset, length, buffer } = this.#views[i]!;
      const bytes = this.#made[buffer];
      const View = own.viewConstructors[name];
      if (!View || !own.isArrayBuffer(bytes)) return badBytes("a view without its buffer");
      this.#made[node] = new View(bytes as ArrayBuffer, offset, length);
    }
  }

  #slot(): unknown {
    const slot = this.#table.raw();
    if (typeof slot !== "string" || slot.length === 0 || slot[0] !== "~") return this.#table.primitive(slot);
    if (slot.length === 1) return this.#made[this.#next++] ?? badBytes("an object without a record");
    if (slot[1] === "h") return HOLE;
    if (slot[1] !== "@") return this.#table.primitive(slot);
    const at = own.Number(own.slice(slot, 2));
    return at < this.#next && this.#made[at] || badBytes("an object that does not exist yet");
  }

  #value(): unknown {
    const value = this.#slot();
    return value === HOLE ? badBytes("a hole outside an array") : value;
  }

  #fill(tag: unknown, node: number): void {
    const table = this.#table, target = this.#made[node]!;
    switch (tag) {
      case "o":
      case "q":
        return this.#properties(target, table.newShape(tag === "q"));
      case "O":
        return this.#properties(target, table.shape());
      case "A":
        return this.#items(target as unknown[], table.count(1));
      case "P": {
        const length = table.int();
        if (length > MAX_SPARSE) badBytes(`a sparse array of length ${length}`);
        this.#pairs(target, true);
        if ((target as unknown[]).length > length) badBytes("items beyond the length of their array");
        (target as unknown[]).length = length;
        return;
      }
      case "M":
        for (let n = table.count(2); n > 0; n--) {
          const key = this.#value();
          own.mapSet(target as Map<unknown, unknown>, key, this.#value());
        }
        return;
      case "E":
        for (let n = table.count(1); n > 0; n--) own.setAdd(target as Set<unknown>, this.#value());
        return;
      case "R":
        table.skip(2);
        return define(target, "lastIndex", { value: table.int(), enumerable: false });
      case "V":
        return this.#view();
      case "X":
        return this.#error(target);
      default:
        return table.skip(tag === "B" ? 2 : 1);
    }
  }

  #properties(target: object, shape: ReadShape): void {
    const { keys, safe } = shape;
    for (let i = 0; i < keys.length; i++) {
      const value = this.#value();
      // The prototype has no property of this name, so assignment has the effect of `defineProperty` and is faster.
      if (safe[i]) (target as Record<string, unknown>)[keys[i]!] = value;
      else define(target, keys[i]!, { value, enumerable: true });
    }
  }

  #items(target: unknown[], length: number): void {
    for (let i = 0; i < length; i++) {
      const value = this.#slot();
      if (value === HOLE) target.length = i + 1;
      else if (this.#plainItems) target[i] = value;
      else define(target, `${i}`, { value, enumerable: true });
    }
  }

  #pairs(target: object, items: boolean): void {
    for (let n = this.#table.count(2); n > 0; n--) {
      const key = items ? this.#table.string() : this.#key(target);
      const value = this.#value();
      define(target, key, { value, enumerable: true });
    }
  }

  /** An index or `length` could make the array longer than its record. */
  #key(target: object): string {
    const key = this.#table.string();
    return own.isArray(target) && (key === "length" || isIndex(key)) ? badBytes("an item outside its array") : key;
  }

  #unusual(target: object): void {
    for (let n = this.#table.count(3); n > 0; n--) {
      const key = this.#key(target);
      const value = this.#value();
      const attributes = this.#table.int();
      const descriptor: PropertyDescriptor & { __proto__: null } = {
        __proto__: null,
        value,
        writable: (attributes & 1) !== 0,
        enumerable: (attributes & 2) !== 0,
        configurable: (attributes & 4) !== 0,
      };
      own.defineProperty(target, key, descriptor);
    }
  }

  #close(target: object): void {
    const level = this.#table.int();
    if (level === 1) own.preventExtensions(target);
    else if (level === 2) own.seal(target);
    else if (level === 3) own.freeze(target);
    else badBytes("an unknown state");
  }

  #view(): void {
    this.#table.skip(3);
    const buffer = this.#table.int();
    if (buffer === this.#next) this.#next++;
    else if (buffer > this.#next) badBytes("an object that does not exist yet");
  }

  #error(target: object): void {
    const table = this.#table;
    table.skip(1);
    let name: unknown, message: unknown = "";
    for (let n = table.count(3); n > 0; n--) {
      const key = table.string();
      const value = this.#value();
      define(target, key, { value, enumerable: table.raw() === true });
      if (key === "name") name = value;
      if (key === "message") message = value;
    }
    if (typeof name !== "string") name = errorName(own.prototypeOf(target));
    const text = typeof message === "string" && message ? `${name}: ${message}` : `${name}`;
    define(target, "stack", { value: text, enumerable: false }); // The decoder's own stack would name files of Vis.
  }

  #instance(target: object): void {
    const name = this.#table.string();
    const { prototypeOf } = this.#options;
    if (!prototypeOf) return;
    const isResult = own.charCodeAt(name, 0) === COLON;
    const prototype = isResult ? own.resultPrototype(name) ?? own.object : prototypeOf(name);
    if (prototype === null) badBytes(`the missing class ${own.slice(name, 0, 60)}`);
    own.setPrototypeOf(target, prototype);
  }
}

function errorName(prototype: object | null): string {
  for (const name in own.errorPrototypes) if (own.errorPrototypes[name] === prototype) return name;
  return "Error";
}

function define(target: object, key: string, what: { readonly value: unknown; readonly enumerable: boolean }): void {
  const { value, enumerable } = what;
  // Without a prototype, a `get` on Object.prototype cannot count as part of the descriptor.
  const descriptor: PropertyDescriptor & { __proto__: null } = {
    __proto__: null,
    value,
    enumerable,
    writable: true,
    configurable: key !== "lastIndex",
  };
  own.defineProperty(target, key, descriptor);
}

const QUOTE = 34, BACKSLASH = 92, OPEN = 91, COMMA = 44, BRACE = 123;

interface ReadShape {
  readonly keys: readonly string[];
  readonly safe: readonly boolean[];
  readonly bare: boolean;
}

function badBytes(what: string): never {
  throw new CodecError({ what, path: null });
}

class TableReader {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #slots: readonly unknown[];
  readonly #size: number;
  readonly #tableStart: number;
  readonly #shapes = bareList<ReadShape>();
  #budget: number;
  at = 0;

  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    { format, maxSlots = MAX_SLOTS * 2 }: { readonly format: number; readonly maxSlots?: number | undefined },
  ) {
    this.#size = own.viewLength(bytes);
    if (this.#size < 6 || bytes[0] !== format) badBytes(`format ${bytes[0]} instead of ${format}`);
    const end = this.#size - 4;
    let size = 0;
    for (let i = 3; i >= 0; i--) size = size * 256 + bytes[end + i]!;
    if (size > end - 1) badBytes("a table that ends early");
    this.#bytes = bytes;
    this.#tableStart = end - size;
    this.#budget = this.#size;
    const table = this.#part(this.#tableStart, size);
    if (slotsIn(table, size) > maxSlots) badBytes(`more than ${maxSlots} values`);
    const slots = own.parse(own.utf8(table));
    if (!own.isArray(slots) || slots.length === 0) badBytes("a table that is not a list");
    this.#slots = slots;
  }

  get ended(): boolean {
    return this.at >= this.#slots.length;
  }

  raw(): unknown {
    return this.at < this.#slots.length ? this.#slots[this.at++] : badBytes("a table that ends early");
  }

  string(): string {
    const text = this.raw();
    return typeof text === "string" ? text : badBytes("a name that is not text");
  }

  int(): number {
    const n = this.raw();
    return typeof n === "number" && n >>> 0 === n
      ? n
      : badBytes("a number that is not a whole number from 0 to 4294967295");
  }

  count(width: number): number {
    const n = this.int();
    return n * width <= this.#slots.length - this.at ? n : badBytes("a count that exceeds the table");
  }

  skip(slots: number): void {
    if (slots > this.#slots.length - this.at) badBytes("a table that ends early");
    this.at += slots;
  }

  newShape(bare: boolean): ReadShape {
    const keys = bareList<string>(), safe = bareList<boolean>();
    for (let n = this.count(1), i = 0; i < n; i++) {
      keys[i] = this.string();
      safe[i] = bare || !(keys[i]! in own.object);
    }
    const shape = { keys, safe, bare };
    this.#shapes[this.#shapes.length] = shape;
    return shape;
  }

  shape(): ReadShape {
    return this.#shapes[this.int()] ?? badBytes("an unknown shape");
  }

  forgetShapes(): void {
    this.#shapes.length = 0;
  }

  primitive(slot: unknown): unknown {
    if (typeof slot !== "string") {
      return slot === null || typeof slot !== "object" ? slot : badBytes("a nested list");
    }
    if (slot.length === 0 || own.charCodeAt(slot, 0) !== TILDE) return slot;
    switch (slot[1]) {
      case "~":
        return own.slice(slot, 1);
      case "u":
        return undefined;
      case "n":
        return NaN;
      case "i":
        return Infinity;
      case "j":
        return -Infinity;
      case "0":
        return -0;
      case "b":
        return bigInt(own.slice(slot, 2));
      case "s":
      case "S":
        return this.#text(slot);
      default:
        return badBytes("an unknown value");
    }
  }

  copy(from: number, size: number): Uint8Array<ArrayBuffer> {
    this.#spend(size);
    const copy = new own.Uint8Array(size);
    own.bytesSet(copy, this.#part(from, size), 0);
    return copy;
  }

  #text(slot: string): string {
    const colon = own.indexOf(slot, ":");
    const from = own.Number(own.slice(slot, 2, colon)), size = own.Number(own.slice(slot, colon + 1));
    this.#spend(size);
    const part = this.#part(from, size);
    return slot[1] === "s" ? own.utf8(part) : utf16(part, size);
  }

  /** Overlapping parts would expand to more than the bytes contain, so their sum has a limit. */
  #spend(size: number): void {
    this.#budget -= size;
    if (!(this.#budget >= 0)) badBytes("parts that overlap");
  }

  #part(from: number, size: number): Uint8Array<ArrayBuffer> {
    const end = from === this.#tableStart ? this.#size : this.#tableStart;
    if (!(from >= 0 && size >= 0 && from + size <= end)) badBytes("a part outside the bytes");
    const buffer = own.viewBuffer(this.#bytes) as ArrayBuffer;
    return new own.Uint8Array(buffer, own.viewOffset(this.#bytes) + from, size);
  }
}

function bigInt(hex: string): bigint {
  const negative = hex[0] === "-";
  const value = own.BigInt("0x" + (negative ? own.slice(hex, 1) : hex));
  return negative ? -value : value;
}

/** The decoder refuses nesting such as "[[[[", which would take many times the memory of the bytes. */
function slotsIn(table: Uint8Array<ArrayBuffer>, length: number): number {
  let inText = false, slots = 1;
  for (let i = 1; i < length; i++) {
    const c = table[i];
    if (c === QUOTE) inText = !inText;
    else if (c === BACKSLASH && inText) i++;
    else if (inText) continue;
    else if (c === COMMA) slots++;
    else if (c === OPEN || c === BRACE) badBytes("a nested list");
  }
  return slots;
}

/** A TextDecoder would replace the lone surrogates that this form preserves. */
function utf16(bytes: Uint8Array<ArrayBuffer>, size: number): string {
  let text = "";
  for (let at = 0; at < size;) {
    const units = bareList<number>();
    for (; units.length < 8192 && at < size; at += 2) units[units.length] = bytes[at]! | (bytes[at + 1]! << 8);
    text += own.fromUnits(units);
  }
  return text;
}

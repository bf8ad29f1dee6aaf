import { CodecError } from "./codec_error.ts";
import { FORMAT, LONG, MAX_NODES, MAX_SLOTS, MAX_SPARSE, MAX_VALUE_DEPTH, type Slot } from "./format.ts";
import { bareList, intrinsics as own } from "./intrinsics.ts";
import { SegmentWriter } from "./segments.ts";
import { writeSpecial } from "./special.ts";
import { escaped, hasValue, isIndex, isPlain, isSparse, pathStep, sameKeys, specialNumber } from "./text.ts";

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
export const LISTED_ITEMS = 4096;

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

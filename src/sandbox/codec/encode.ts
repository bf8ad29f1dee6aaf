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
}

interface Shape {
  readonly keys: readonly string[];
  readonly bare: boolean;
}

const RECENT_SHAPES = 8;
/** Own keys of longer arrays are not listed, which would cost more than everything else: properties besides the items
 * are dropped. */
const LISTED_ARRAY = 4096;

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
    let path = pathStep(name);
    for (let i = this.#current; i >= 0; i = this.#parents[i]!) path = pathStep(this.#names[i]!) + path;
    if (path.length > 300) path = `${own.slice(path, 0, 100)}…${own.slice(path, path.length - 150)}`;
    throw new CodecError({ what, path });
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
    const prototype = own.prototypeOf(value);
    if (own.isArray(value)) return this.#array(value, prototype);
    if (prototype === null || prototype === own.object) {
      if (isPlain(value)) return this.object(value, prototype === null);
    }
    writeSpecial(this, value);
  }

  object(value: object, bare: boolean): void {
    const keys = own.keys(value), values = this.#scratch;
    let count = 0;
    for (let i = 0; i < keys.length; i++) {
      const descriptor = own.descriptorOf(value, keys[i]!);
      if (!hasValue(descriptor)) continue;
      values[count] = descriptor.value;
      keys[count++] = keys[i]!; // leaves out accessors
    }
    keys.length = count;
    this.#shape(keys, bare);
    for (let i = 0; i < count; i++) this.slot(values[i], keys[i]!);
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
        if (hasValue(descriptor)) this.slot(descriptor.value, i);
        else this.put("~h");
      }
      if (length <= LISTED_ARRAY || prototype !== own.array) this.extras(value, true);
    }
    if (prototype !== own.array) this.instance(value);
  }

  /** Own enumerable data properties that the record does not contain yet. */
  extras(value: object, skipItems: boolean): void {
    const keys = own.keys(value);
    if (keys.length === 0 || (skipItems && isIndex(keys[keys.length - 1]!))) return;
    this.put("+");
    this.#pairs(value, skipItems);
  }

  #pairs(value: object, skipItems: boolean): void {
    const keys = own.keys(value);
    const at = this.#slots.length;
    let count = 0;
    this.put(0);
    for (let i = 0; i < keys.length; i++) {
      if (skipItems && isIndex(keys[i]!)) continue;
      const descriptor = own.descriptorOf(value, keys[i]!);
      if (!hasValue(descriptor)) continue;
      count++;
      this.put(keys[i]!);
      this.slot(descriptor.value, keys[i]!);
    }
    this.#slots[at] = count;
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

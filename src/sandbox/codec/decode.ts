import { CodecError, FORMAT, isIndex, MAX_NODES, MAX_SLOTS, MAX_SPARSE, MAX_VALUE_DEPTH } from "./format.ts";
import { bareList, intrinsics as own } from "./intrinsics.ts";

export interface DecodeOptions {
  /** Limit of the slots of the table (format.ts), counted before anything is built from it. */
  readonly maxSlots?: number;
  /** The prototype for instances of a class named by `instanceOf`; null refuses the bytes. If absent, instances are
   * decoded as plain data. */
  readonly prototypeOf?: (name: string) => object | null;
}

interface View {
  readonly node: number;
  readonly name: string;
  readonly offset: number;
  readonly length: number;
  readonly buffer: number;
}

const HOLE = Symbol("hole");

/** For one use. The first pass creates an empty object for each record, the second one fills them. */
export class Decoder {
  readonly #options: DecodeOptions;
  readonly #table: TableReader;
  readonly #made = bareList<object>();
  /** False if an index was defined on Array.prototype: items are then defined one by one. */
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
      throw error instanceof CodecError ? error : new CodecError({ what: "the table is not JSON", path: null });
    }
  }

  decode(): unknown {
    try {
      return this.#decode();
    } catch (error) {
      if (error instanceof CodecError) throw error;
      return badBytes("a record that no value has");
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
      if (tag === "+") this.#pairs(this.#made[i] ?? badBytes("properties of nothing"), false);
      else if (tag === "=") this.#unusual(this.#made[i] ?? badBytes("properties of nothing"));
      else if (tag === "!") this.#close(this.#made[i] ?? badBytes("a state of nothing"));
      else if (tag === "C") this.#instance(this.#made[i] ?? badBytes("an instance of nothing"));
      else {
        if (++i >= this.#next) badBytes("an object that nothing refers to");
        if (i === levelEnd) {
          levelEnd = this.#next;
          if (++depth > MAX_VALUE_DEPTH) badBytes(`deeper than ${MAX_VALUE_DEPTH} levels`);
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
        return this.#add(new own.Date(typeof time === "number" ? time : badBytes("a wrong date")));
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
        return this.#add(own.create(null)); // replaced once its buffer exists
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

  /** Second pass: reads one record again, in the order of writing. */
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
        if ((target as unknown[]).length > length) badBytes("items beyond the length");
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

  #properties(target: object, shape: Shape): void {
    const { keys, safe } = shape;
    for (let i = 0; i < keys.length; i++) {
      const value = this.#value();
      // no prototype has a property of this name, so this has the effect of `defineProperty`, ten times faster
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

  /** The name of a property besides the items: no array becomes longer than its record says. */
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
    define(target, "stack", { value: text, enumerable: false }); // its own would name our files
  }

  #instance(target: object): void {
    const name = this.#table.string();
    const { prototypeOf } = this.#options;
    if (!prototypeOf) return;
    const prototype = prototypeOf(name);
    if (prototype === null) badBytes(`the class ${own.slice(name, 0, 60)} does not exist`);
    own.setPrototypeOf(target, prototype);
  }
}

function errorName(prototype: object | null): string {
  for (const name in own.errorPrototypes) if (own.errorPrototypes[name] === prototype) return name;
  return "Error";
}

function define(target: object, key: string, what: { readonly value: unknown; readonly enumerable: boolean }): void {
  const { value, enumerable } = what;
  // without a prototype: a `get` on Object.prototype would count as part of the descriptor
  const descriptor: PropertyDescriptor & { __proto__: null } = {
    __proto__: null,
    value,
    enumerable,
    writable: true,
    configurable: key !== "lastIndex",
  };
  own.defineProperty(target, key, descriptor);
}

const TILDE = 126, QUOTE = 34, BACKSLASH = 92, OPEN = 91, COMMA = 44, BRACE = 123;

interface Shape {
  readonly keys: readonly string[];
  /** Whether the key can be stored by assignment: Object.prototype has no property of that name. */
  readonly safe: readonly boolean[];
  readonly bare: boolean;
}

function badBytes(what: string): never {
  throw new CodecError({ what, path: null });
}

/** A cursor over the table and the segments of an encoding; every bound is checked. */
class TableReader {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #slots: readonly unknown[];
  readonly #size: number;
  readonly #tableStart: number;
  readonly #shapes = bareList<Shape>();
  #budget: number;
  at = 0;

  constructor(
    bytes: Uint8Array<ArrayBuffer>,
    { format, maxSlots = MAX_SLOTS * 2 }: { readonly format: number; readonly maxSlots?: number | undefined },
  ) {
    this.#size = own.viewLength(bytes);
    if (this.#size < 6 || bytes[0] !== format) badBytes(`format ${bytes[0]} is not ${format}`);
    const end = this.#size - 4;
    let size = 0;
    for (let i = 3; i >= 0; i--) size = size * 256 + bytes[end + i]!;
    if (size > end - 1) badBytes("the table is cut off");
    this.#bytes = bytes;
    this.#tableStart = end - size;
    this.#budget = this.#size;
    const table = this.#part(this.#tableStart, size);
    if (slotsIn(table, size) > maxSlots) badBytes("more values than allowed");
    const slots = own.parse(own.utf8(table));
    if (!own.isArray(slots) || slots.length === 0) badBytes("the table is not a list");
    this.#slots = slots;
  }

  get ended(): boolean {
    return this.at >= this.#slots.length;
  }

  /** The next slot, unchanged. */
  raw(): unknown {
    return this.at < this.#slots.length ? this.#slots[this.at++] : badBytes("the table ends early");
  }

  string(): string {
    const text = this.raw();
    return typeof text === "string" ? text : badBytes("a name that is not text");
  }

  int(): number {
    const n = this.raw();
    return typeof n === "number" && n >>> 0 === n ? n : badBytes("a wrong number");
  }

  /** A count that fits into the rest of the table, with `width` slots each. */
  count(width: number): number {
    const n = this.int();
    return n * width <= this.#slots.length - this.at ? n : badBytes("a wrong count");
  }

  skip(slots: number): void {
    if (slots > this.#slots.length - this.at) badBytes("the table ends early");
    this.at += slots;
  }

  /** A new shape on the first pass, the same one on the second. */
  newShape(bare: boolean): Shape {
    const keys = bareList<string>(), safe = bareList<boolean>();
    for (let n = this.count(1), i = 0; i < n; i++) {
      keys[i] = this.string();
      safe[i] = bare || !(keys[i]! in own.object);
    }
    const shape = { keys, safe, bare };
    this.#shapes[this.#shapes.length] = shape;
    return shape;
  }

  shape(): Shape {
    return this.#shapes[this.int()] ?? badBytes("an unknown shape");
  }

  forgetShapes(): void {
    this.#shapes.length = 0;
  }

  /** The value of a slot that does not refer to an object. */
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

  /** A copy of part of the segments. */
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

  /** Limits the sum of all parts: overlapping parts would expand to more than the bytes contain. */
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

/** How many slots the table has, before anything is built from it. Allows one flat list only: "[[[[" or "{},{}," would
 * cost the reader many times the size of the bytes. */
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

/** Not a TextDecoder, which would replace the lone surrogates that this form preserves. */
function utf16(bytes: Uint8Array<ArrayBuffer>, size: number): string {
  let text = "";
  for (let at = 0; at < size;) {
    const units = bareList<number>();
    for (; units.length < 8192 && at < size; at += 2) units[units.length] = bytes[at]! | (bytes[at + 1]! << 8);
    text += own.fromUnits(units);
  }
  return text;
}

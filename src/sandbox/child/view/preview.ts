import { bareList, flagsOf } from "../../codec/intrinsics.ts";
import { look } from "../realm/captured.ts";
import {
  bytesOf,
  classNameOf,
  ERROR_PARTS,
  errorText,
  hrefOf,
  inheritedText,
  isDigits,
  isInternal,
  kindOf,
  lengthOf,
  type ObjectKind,
  ownData,
  promiseState,
  tagOf,
} from "./kinds.ts";

/** The traversal limits the text, and runs no getter, trap, iterator or method of the value. */
export function preview(
  value: unknown,
  { depth = 5, items = 100, chars = 6000, ms = 50, more = "" }: Partial<Bounds> & {
    readonly more?: string;
  } = {},
): string {
  try {
    const lines = typeof value === "string" ? linesText(value, chars) : null;
    if (lines !== null) return lines.whole ? lines.text : lines.text + more;
    const previewer = new Previewer({ depth, items, chars, ms });
    const text = previewer.text(value);
    const most = chars * 2 + 200; // The traversal does not count indentation.
    const shown = text.length <= most ? text : `${look.slice(text, 0, most)}...`;
    return previewer.complete && shown === text ? shown : shown + more;
  } catch {
    return "[Not shown]"; // The stack or the heap may be exhausted.
  }
}

const MIN_SHARE = 80;
const LEAST_LINES = 60;
const CHECK_EVERY = 64;
/** Listing the own keys of a longer array would take long, so the preview omits its other properties. */
const LISTED_ARRAY = 4096;
const MAX_HOLES = 10_000;

export class Previewer {
  readonly #bounds: Bounds;
  readonly #deadline: number;
  readonly #open = new look.Map<object, number>();
  #left: number;
  #references = 0;
  #complete = true;
  #steps = 0;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#left = bounds.chars;
    this.#deadline = look.now() + bounds.ms;
  }

  text(value: unknown): string {
    return this.#value(value, { level: 0, share: this.#bounds.chars });
  }

  #layOut(container: Container): string {
    return layOut(container, this.#bounds.flat === true);
  }

  get complete(): boolean {
    return this.#complete && this.#left >= 0;
  }

  #cut(text: string): string {
    this.#complete = false;
    return this.#leaf(text);
  }

  #leaf(text: string): string {
    this.#left -= text.length;
    return text;
  }

  get #full(): boolean {
    if (++this.#steps % CHECK_EVERY === 0 && look.now() > this.#deadline) this.#left = 0;
    return this.#left <= 0;
  }

  #value(value: unknown, place: Share): string {
    if (typeof value === "string") {
      const lines = this.#bounds.flat || !hasLines(value) ? null : linesText(value, place.share);
      if (lines !== null) return lines.whole ? this.#leaf(lines.text) : this.#cut(lines.text);
      return value.length > place.share
        ? this.#cut(quoted(value, place.share))
        : this.#leaf(quoted(value, place.share));
    }
    if (value === null || (typeof value !== "object" && typeof value !== "function")) {
      return this.#leaf(primitiveText(value));
    }
    const known = look.mapGet(this.#open, value) as number | undefined;
    if (known !== undefined) {
      const reference = known || ++this.#references;
      look.mapSet(this.#open, value, reference);
      return this.#leaf(`[Circular *${reference}]`);
    }
    look.mapSet(this.#open, value, 0);
    const text = this.#object(value, place);
    const reference = look.mapGet(this.#open, value) as number;
    look.mapDelete(this.#open, value);
    return reference > 0 ? `<ref *${reference}> ${text}` : text;
  }

  #object(value: object, place: Share): string {
    const kind = kindOf(value);
    switch (kind) {
      case "proxy":
        return this.#leaf("[Proxy]");
      case "function":
      case "class":
        return this.#labelled(value, { label: functionLabel(value, kind), place });
      case "date":
        return this.#labelled(value, { label: dateText(value as Date), place });
      case "regexp":
        return this.#labelled(value, { label: regExpText(value), place });
      case "error":
        return this.#error(value, place);
      case "promise":
        return this.#promise(value, place);
      case "boxed":
      case "url":
      case "weak":
      case "buffer":
      case "dataview":
        return this.#leaf(closedText(value, { kind, max: place.share }));
      default:
        return this.#opened(value, kind, place);
    }
  }

  #opened(value: object, kind: ObjectKind, place: Share): string {
    const name = classNameOf(value);
    if (place.level >= this.#bounds.depth) return this.#cut(`[${name || "Object"}]`);
    switch (kind) {
      case "array":
        return this.#list(value as unknown[], {
          label: name === "Array" ? "" : `${name || "Array"}(${lengthOf(value)}) `,
          place,
        });
      case "arguments":
        return this.#list(value as unknown[], { label: "[Arguments] ", place });
      case "typed":
        return this.#list(value as unknown[], { label: `${name}(${look.viewLength(value)}) `, place });
      case "map":
        return this.#map(value as Map<unknown, unknown>, { label: `${name || "Map"}(${look.mapSize(value)})`, place });
      case "set":
        return this.#set(value as Set<unknown>, { label: `${name || "Set"}(${look.setSize(value)})`, place });
      default:
        return this.#plain(value, name, place);
    }
  }

  #plain(value: object, name: string, place: Share): string {
    const tag = tagOf(value);
    const temporal = look.temporalTexts[tag];
    if (temporal) {
      try {
        return this.#leaf(`${tag} ${temporal(value)}`);
      } catch {
        // An object without the data of its class has only the tag.
      }
    }
    const label = name === "" ? "[Object: null prototype]" : name === "Object" ? "" : name;
    const marked = tag && tag !== name ? `${label || "Object"} [${tag}]` : label;
    const parts = this.#properties(value, { place, used: 0, skipItems: false });
    this.#leaf(marked);
    return this.#layOut({ open: marked ? `${marked} {` : "{", close: "}", parts, level: place.level, list: false });
  }

  #labelled(value: object, { label, place }: { readonly label: string; readonly place: Share }): string {
    this.#leaf(label);
    if (place.level >= this.#bounds.depth) return label;
    const parts = this.#properties(value, { place, used: 0, skipItems: false });
    if (parts.length === 0) return label;
    return this.#layOut({ open: `${label} {`, close: "}", parts, level: place.level, list: false });
  }

  #error(value: object, place: Share): string {
    const { name, message } = errorText(value);
    const text = look.slice(
      message ? `${name}: ${message}` : name,
      0,
      place.share > MIN_SHARE ? place.share : MIN_SHARE,
    );
    const label = this.#leaf(place.level === 0 ? text : `[${text}]`);
    if (place.level >= this.#bounds.depth || look.prototypeOf(value) === look.domException) return label;
    const parts = this.#properties(value, { place, used: 0, skipItems: false });
    for (let i = 0; i < ERROR_PARTS.length; i++) {
      const key = ERROR_PARTS[i]!;
      const hidden = look.descriptorOf(value, key);
      if (hidden && !hidden.enumerable) parts[parts.length] = `[${key}]: ${this.#property(hidden, place)}`;
    }
    if (parts.length === 0) return label;
    return this.#layOut({ open: `${label} {`, close: "}", parts, level: place.level, list: false });
  }

  #promise(value: object, place: Share): string {
    const { state, result } = promiseState(value);
    const name = classNameOf(value) || "Promise";
    if (state === "pending") return this.#leaf(`${name} { <pending> }`);
    const label = this.#leaf(state === "rejected" ? `${name} { <rejected> ` : `${name} { `);
    return `${label}${this.#value(result, { level: place.level + 1, share: place.share })} }`;
  }

  #property(descriptor: PropertyDescriptor, { level, share }: Share): string {
    if (!look.hasOwn(descriptor, "value")) return this.#leaf(accessorText(descriptor));
    return this.#value(descriptor.value, { level: level + 1, share });
  }

  #shareOf(place: Share, count: number): number {
    const whole = place.share < this.#left ? place.share : this.#left;
    const share = (count <= 4 ? whole * 0.75 : whole / count) | 0;
    return share > MIN_SHARE ? share : MIN_SHARE;
  }

  #properties(value: object, how: { place: Share; used: number; skipItems: boolean }): string[] {
    const parts = bareList<string>();
    const keys = look.ownKeys(value);
    const { items } = this.#bounds, { place } = how;
    let shown = how.used;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      if (how.skipItems && typeof key === "string" && isDigits(key)) continue;
      const descriptor = look.descriptorOf(value, key);
      if (!descriptor?.enumerable || (typeof key === "symbol" && isInternal(key))) continue;
      if (shown++ >= items || this.#full) {
        parts[parts.length] = this.#cut(`... ${keys.length - i} more`);
        break;
      }
      const rest = keys.length - i < items ? keys.length - i : items;
      const share = this.#shareOf(place, rest);
      parts[parts.length] = `${this.#leaf(keyText(key))}: ${this.#property(descriptor, { level: place.level, share })}`;
    }
    return parts;
  }

  #list(value: readonly unknown[], { label, place }: { readonly label: string; readonly place: Share }): string {
    const length = lengthOf(value), parts = bareList<string>();
    const { items } = this.#bounds;
    let holes = 0, allHoles = 0, i = 0;
    const closeHoles = (): void => {
      if (holes > 0) parts[parts.length] = this.#leaf(`<${holes} empty item${holes > 1 ? "s" : ""}>`);
      holes = 0;
    };
    for (; i < length && parts.length < items && allHoles < MAX_HOLES; i++) {
      const descriptor = look.descriptorOf(value, i);
      if (!descriptor) {
        holes++;
        allHoles++;
        continue;
      }
      closeHoles();
      if (this.#full) break;
      const share = this.#shareOf(place, length - i < items ? length - i : items);
      parts[parts.length] = this.#property(descriptor, { level: place.level, share });
    }
    closeHoles();
    if (i < length) parts[parts.length] = this.#cut(`... ${length - i} more item${length - i > 1 ? "s" : ""}`);
    else if (length <= LISTED_ARRAY && look.isArray(value)) {
      const more = this.#properties(value, { place, used: parts.length, skipItems: true });
      for (let k = 0; k < more.length; k++) parts[parts.length] = more[k]!;
    }
    this.#leaf(label);
    return this.#layOut({ open: `${label}[`, close: "]", parts, level: place.level, list: true });
  }

  #map(value: Map<unknown, unknown>, { label, place }: { readonly label: string; readonly place: Share }): string {
    const parts = bareList<string>(), size = look.mapSize(value);
    const iterator = look.mapEntries(value);
    const limit = size < this.#bounds.items ? size : this.#bounds.items;
    while (parts.length < limit && !this.#full) {
      const entry = (look.mapNext(iterator) as IteratorResult<readonly [unknown, unknown]>).value;
      if (!entry) break;
      const share = this.#shareOf(place, 2 * (limit - parts.length));
      const key = this.#value(entry[0], { level: place.level + 1, share });
      parts[parts.length] = `${key} => ${this.#value(entry[1], { level: place.level + 1, share })}`;
    }
    return this.#collection(value, { label, parts, size, place });
  }

  #set(value: Set<unknown>, { label, place }: { readonly label: string; readonly place: Share }): string {
    const parts = bareList<string>(), size = look.setSize(value);
    const iterator = look.setValues(value);
    const limit = size < this.#bounds.items ? size : this.#bounds.items;
    while (parts.length < limit && !this.#full) {
      const item = (look.setNext(iterator) as IteratorResult<unknown>).value;
      const share = this.#shareOf(place, limit - parts.length);
      parts[parts.length] = this.#value(item, { level: place.level + 1, share });
    }
    return this.#collection(value, { label, parts, size, place });
  }

  #collection(value: object, what: { label: string; parts: string[]; size: number; place: Share }): string {
    const { label, parts, size, place } = what;
    if (parts.length < size) parts[parts.length] = this.#cut(`... ${size - parts.length} more items`);
    const more = this.#properties(value, { place, used: parts.length, skipItems: false });
    for (let k = 0; k < more.length; k++) parts[parts.length] = more[k]!;
    this.#leaf(label);
    return this.#layOut({ open: `${label} {`, close: "}", parts, level: place.level, list: true });
  }
}

const WIDTH = 80;
/** An object on one line may be wider than a list, so that a reader can compare records line by line. */
const ROW_WIDTH = 200;

interface Bounds {
  readonly depth: number;
  readonly items: number;
  readonly chars: number;
  readonly ms: number;
  readonly flat?: boolean;
}

interface Share {
  readonly level: number;
  readonly share: number;
}

interface Container {
  readonly open: string;
  readonly close: string;
  readonly parts: readonly string[];
  readonly level: number;
  readonly list: boolean;
}

function layOut({ open, close, parts, level, list }: Container, flat: boolean): string {
  if (parts.length === 0) return open + close;
  if (flat) return `${open} ${joined(parts, ", ")} ${close}`;
  let size = open.length + level * 2, longest = 0, oneLine = true;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    size += part.length + 2;
    if (part.length > longest) longest = part.length;
    if (look.indexOf(part, "\n") >= 0) oneLine = false;
  }
  if (oneLine && size <= (list ? WIDTH : ROW_WIDTH)) return `${open} ${joined(parts, ", ")} ${close}`;
  const indent = look.repeat(" ", level + 1);
  const lines = oneLine && list && longest <= 24 ? filled(parts, WIDTH - level * 2 - 2) : rows(parts);
  return `${open}\n${indent}${joined(lines, `,\n${indent}`)}\n${look.repeat(" ", level)}${close}`;
}

function rows(parts: readonly string[]): string[] {
  const out: string[] = Object.setPrototypeOf([], null);
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!, size = part.length;
    const open = part[0], close = part[size - 1];
    const isRow = (open === "[" && close === "]" || open === "{" && close === "}") && part[1] === " " &&
      part[size - 2] === " " && look.indexOf(part, "\n") < 0;
    out[i] = isRow ? open + look.slice(part, 2, size - 2) + close : part;
  }
  return out;
}

function joined(parts: readonly string[], separator: string): string {
  let out = "";
  for (let i = 0; i < parts.length; i++) out += i > 0 ? separator + parts[i] : parts[i];
  return out;
}

function filled(parts: readonly string[], width: number): string[] {
  const lines: string[] = Object.setPrototypeOf([], null);
  let line = "";
  for (let i = 0; i < parts.length; i++) {
    if (line !== "" && line.length + parts[i]!.length + 2 > width) {
      lines[lines.length] = line;
      line = "";
    }
    line += line === "" ? parts[i]! : `, ${parts[i]}`;
  }
  lines[lines.length] = line;
  return lines;
}

/** Larger numbers take too long to convert to decimal. */
const MAX_BIGINT = 2n ** 4096n;

export function primitiveText(value: unknown): string {
  if (typeof value === "bigint") {
    return value < MAX_BIGINT && value > -MAX_BIGINT ? `${value}n` : "[BigInt of more than 1233 digits]";
  }
  if (typeof value === "symbol") return look.slice(look.symbolText(value), 0, 200);
  return look.is(value, -0) ? "-0" : `${value as number | boolean | null | undefined}`;
}

const MARK = 24;

function quoted(text: string, max: number): string {
  if (text.length <= max + MARK) return look.stringify(text);
  const tail = max >= 200 ? (max / 3) | 0 : 0, head = max - tail;
  const left = text.length - head - tail;
  const start = look.stringify(look.slice(text, 0, head));
  if (tail === 0) return `${start}... ${left} more characters`;
  return `${start}... ${left} characters ...${look.stringify(look.slice(text, text.length - tail))}`;
}

export function keyText(key: string | symbol): string {
  if (typeof key === "symbol") return `[${look.slice(look.symbolText(key), 0, 200)}]`;
  return isName(key) ? key : quoted(key, 200);
}

function isName(key: string): boolean {
  if (key.length === 0 || key.length > 200) return false;
  for (let i = 0; i < key.length; i++) {
    const c = look.charCodeAt(key, i);
    const letter = (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95 || c === 36;
    if (!letter && (i === 0 || c < 48 || c > 57)) return false;
  }
  return true;
}

export function functionLabel(value: object, kind: "function" | "class"): string {
  const own = ownData(value, "name");
  const name = typeof own === "string" ? look.slice(own, 0, 100) : "";
  if (kind === "class") {
    const base = look.prototypeOf(value);
    const parent = base !== null && typeof base === "function" && base !== look.function && !look.isProxy(base)
      ? ownData(base, "name")
      : "";
    const parentText = typeof parent === "string" && parent ? ` extends ${look.slice(parent, 0, 100)}` : "";
    return `[class ${name || "(anonymous)"}${parentText}]`;
  }
  const tag = inheritedText(value, look.toStringTag) ?? "Function";
  return name ? `[${tag}: ${name}]` : `[${tag} (anonymous)]`;
}

function dateText(value: Date): string {
  const time = look.time(value);
  return time === time ? look.iso(value) : "Invalid Date";
}

function regExpText(value: object): string {
  return `/${look.slice(look.source(value), 0, 1000)}/${flagsOf(value)}`;
}

function closedText(value: object, { kind, max }: { readonly kind: ObjectKind; readonly max: number }): string {
  switch (kind) {
    case "boxed":
      return boxedText(value);
    case "url":
      return `URL { href: ${quoted(hrefOf(value) ?? "", max)} }`;
    case "weak":
      return `${classNameOf(value)} { <items unknown> }`;
    default:
      return `${classNameOf(value)} { byteLength: ${bytesOf(value, kind)} }`;
  }
}

function boxedText(value: object): string {
  const readers: readonly (readonly [string, (self: unknown) => unknown])[] = [
    ["Number", look.numberOf],
    ["String", look.stringOf],
    ["Boolean", look.booleanOf],
    ["BigInt", look.bigintOf],
    ["Symbol", look.symbolOf],
  ];
  for (let i = 0; i < readers.length; i++) {
    try {
      const inside = readers[i]![1](value);
      return `[${readers[i]![0]}: ${typeof inside === "string" ? quoted(inside, 200) : primitiveText(inside)}]`;
    } catch {
      continue; // The value has another kind.
    }
  }
  return `[${classNameOf(value)}]`;
}

function accessorText(descriptor: PropertyDescriptor): string {
  const get = look.hasOwn(descriptor, "get") && descriptor.get !== undefined;
  const set = look.hasOwn(descriptor, "set") && descriptor.set !== undefined;
  return get && set ? "[Getter/Setter]" : get ? "[Getter]" : "[Setter]";
}

function hasLines(text: string): boolean {
  const line = text.length < LEAST_LINES ? -1 : look.indexOf(text, "\n");
  return line >= 0 && line < text.length - 1;
}

const READABLE = 20;
const FENCE = '"""';

const LEAST_CUT = 150, LINE = 200;

function linesText(text: string, max: number): { readonly text: string; readonly whole: boolean } | null {
  if (look.indexOf(text, "\n") < 0) return null;
  const whole = text.length < max + LEAST_CUT;
  const head = whole ? text.length : lineEnd(text, max - ((max / 3) | 0));
  const rest = whole ? text.length : lineStart(text, text.length - ((max / 3) | 0));
  const first = look.slice(text, 0, head), last = look.slice(text, rest);
  if (!isReadable(first) || !isReadable(last)) return null;
  const end = look.indexOf(first, "\r\n") >= 0 ? `${FENCE} (lines end in \\r\\n)` : FENCE;
  if (whole) return { text: `${FENCE}\n${withoutReturns(first)}${end}`, whole };
  const isLine = look.charCodeAt(first, head - 1) === 10;
  const lines = isLine && look.charCodeAt(text, rest - 1) === 10 ? linesBetween(text, { head, rest }) : 0;
  const left = lines > 0 ? `${lines} lines left out, ${rest - head} characters` : `${rest - head} characters left out`;
  const mark = `${isLine ? "" : "\n"}... ${left} ...\n`;
  return { text: `${FENCE}\n${withoutReturns(first)}${mark}${withoutReturns(last)}${end}`, whole };
}

const COUNTED = 10_000_000;

function linesBetween(text: string, { head, rest }: { readonly head: number; readonly rest: number }): number {
  let count = 0;
  if (rest - head > COUNTED) return count;
  for (let at = look.indexOf(text, "\n", head); at >= 0 && at < rest; at = look.indexOf(text, "\n", at + 1)) count++;
  return count;
}

function lineEnd(text: string, at: number): number {
  for (let i = at; i > 0 && i > at - LINE; i--) if (look.charCodeAt(text, i - 1) === 10) return i;
  return at;
}

function lineStart(text: string, at: number): number {
  for (let i = at; i < text.length && i < at + LINE; i++) if (look.charCodeAt(text, i - 1) === 10) return i;
  return at;
}

function isReadable(text: string): boolean {
  let odd = 0;
  for (let i = 0; i < text.length; i++) {
    const c = look.charCodeAt(text, i);
    if ((c < 32 && c !== 9 && c !== 10 && c !== 13) || c === 127 || c === 0xfffd) odd++;
  }
  return odd * READABLE <= text.length;
}

function withoutReturns(text: string): string {
  let out = "", from = 0;
  for (let at = look.indexOf(text, "\r\n"); at >= 0; at = look.indexOf(text, "\r\n", from)) {
    out += look.slice(text, from, at);
    from = at + 1;
  }
  return out + look.slice(text, from);
}

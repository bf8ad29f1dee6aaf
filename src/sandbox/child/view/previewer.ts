import { bareList } from "../../codec/intrinsics.ts";
import { look } from "../intrinsics/look.ts";
import {
  classNameOf,
  ERROR_PARTS,
  errorText,
  isDigits,
  isInternal,
  kindOf,
  lengthOf,
  type ObjectKind,
  promiseState,
  tagOf,
} from "./object_kind.ts";
import { type Bounds, layOut, type Share } from "./layout.ts";
import {
  accessorText,
  closedText,
  dateText,
  functionLabel,
  keyText,
  primitiveText,
  quoted,
  regExpText,
} from "./leaf_text.ts";

const MIN_SHARE = 80;
const CHECK_EVERY = 64;
/** Own keys of longer arrays are not listed: their other properties are not shown. */
const LISTED_ARRAY = 4096;
const MAX_HOLES = 10_000;

/** For one use. */
export class Previewer {
  readonly #bounds: Bounds;
  readonly #deadline: number;
  /** Objects on the path to the current one; the number of the reference to each, 0 if there is none. */
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

  /** False if anything was omitted from the text. */
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

  /** Whether the limit of characters or time is reached. */
  get #full(): boolean {
    if (++this.#steps % CHECK_EVERY === 0 && look.now() > this.#deadline) this.#left = 0;
    return this.#left <= 0;
  }

  #value(value: unknown, place: Share): string {
    if (typeof value === "string") {
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

  /** Objects that are shown with their content. */
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
        // carries the tag only
      }
    }
    const label = name === "" ? "[Object: null prototype]" : name === "Object" ? "" : name;
    const marked = tag && tag !== name ? `${label || "Object"} [${tag}]` : label;
    const parts = this.#properties(value, { place, used: 0, skipItems: false });
    this.#leaf(marked);
    return layOut({ open: marked ? `${marked} {` : "{", close: "}", parts, level: place.level, list: false });
  }

  #labelled(value: object, { label, place }: { readonly label: string; readonly place: Share }): string {
    this.#leaf(label);
    if (place.level >= this.#bounds.depth) return label;
    const parts = this.#properties(value, { place, used: 0, skipItems: false });
    if (parts.length === 0) return label;
    return layOut({ open: `${label} {`, close: "}", parts, level: place.level, list: false });
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
    return layOut({ open: `${label} {`, close: "}", parts, level: place.level, list: false });
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
    return layOut({ open: `${label}[`, close: "]", parts, level: place.level, list: true });
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
    return layOut({ open: `${label} {`, close: "}", parts, level: place.level, list: true });
  }
}

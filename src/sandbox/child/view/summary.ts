import type { VariableSummary } from "../../../domain/query/variable.ts";
import { bareList } from "../../codec/intrinsics.ts";
import { look } from "../realm/captured.ts";
import { classNameOf, kindOf, lengthOf, type ObjectKind, tagOf, typeOf } from "./kinds.ts";
import { functionLabel, keyText, Previewer } from "./preview.ts";

interface SummaryFacts {
  readonly declaration: string;
  readonly doc: string;
  readonly source?: string;
  readonly name?: string;
}

const MAX_SHAPE = 200, MAX_INLINE = 120, MAX_DOC = 80;

/** Runs no code of the value, and does not throw. */
export function summarize(value: unknown, facts: SummaryFacts): VariableSummary {
  const { declaration } = facts;
  const doc = look.slice(facts.doc, 0, MAX_DOC);
  try {
    const { type, size } = typeOf(value);
    return {
      declaration,
      type,
      size,
      shape: shapeText(value, { ...facts, type, size }),
      inline: inlineText(value),
      doc,
    };
  } catch {
    return { declaration, type: typeof value, size: null, shape: typeof value, inline: null, doc };
  }
}

interface Typed extends SummaryFacts {
  readonly type: string;
  readonly size: number | null;
}

function shapeText(value: unknown, facts: Typed): string {
  const { type, size, name = "" } = facts;
  if (typeof value === "string") return `string(${size})`;
  if (type === "function" && typeof value === "function") {
    const source = facts.source || look.functionText(value);
    return cut(`${name || label(value)}${parameters(source)}`);
  }
  if (type === "class" && typeof value === "function") return cut(look.slice(functionLabel(value, "class"), 1, -1));
  return shape(value, { terse: true, chars: MAX_SHAPE });
}

function label(value: object): string {
  const name: unknown = look.descriptorOf(value, "name")?.value;
  return typeof name === "string" ? name : "";
}

function cut(text: string): string {
  return text.length <= MAX_SHAPE ? text : `${look.slice(text, 0, MAX_SHAPE - 3)}...`;
}

function parameters(source: string): string {
  const arrow = look.indexOf(source, "=>"), open = look.indexOf(source, "(");
  if (open < 0 || (arrow >= 0 && arrow < open)) {
    const from = look.slice(source, 0, 6) === "async " ? 6 : 0;
    return arrow > 0 ? `(${trimmed(look.slice(source, from, arrow))})` : "()";
  }
  let level = 0;
  for (let i = open; i < source.length && i < open + 1000; i++) {
    const c = look.charCodeAt(source, i);
    if (c === 40 || c === 91 || c === 123) level++;
    if ((c === 41 || c === 93 || c === 125) && --level === 0) return oneLine(look.slice(source, open, i + 1));
  }
  return "(...)";
}

function trimmed(text: string): string {
  let end = text.length;
  while (end > 0 && look.charCodeAt(text, end - 1) <= 32) end--;
  return look.slice(text, 0, end);
}

function oneLine(text: string): string {
  let out = "", space = false;
  for (let i = 0; i < text.length; i++) {
    const blank = look.charCodeAt(text, i) <= 32;
    if (!blank) out += (space && out !== "(" ? " " : "") + text[i];
    space = blank;
  }
  return out;
}

function inlineText(value: unknown): string | null {
  if (typeof value === "function" || (typeof value === "string" && value.length > MAX_INLINE)) return null;
  const previewer = new Previewer({ depth: 6, items: 60, chars: 200, ms: 10, flat: true });
  const text = previewer.text(value);
  return previewer.complete && look.indexOf(text, "\n") < 0 && text.length <= MAX_INLINE ? text : null;
}

interface ShapeOptions {
  readonly terse?: boolean;
  readonly chars?: number;
}

/** A sample, bounded in depth, keys and items, decides the shape, and no code of the value runs. */
export function shape(value: unknown, options: ShapeOptions = {}): string {
  const { terse = false, chars = 2000 } = options;
  try {
    const schema = emptySchema();
    new SchemaReader().read(value, schema);
    const text = write(schema, terse);
    return text.length <= chars ? text : `${look.slice(text, 0, chars - 3)}...`;
  } catch {
    return "unknown";
  }
}

const DICTIONARY = 9;
const TERSE_KEYS = 100;

function write(schema: ValueShape, terse: boolean): string {
  let out = "", count = 0;
  const add = (part: string): void => {
    out += count++ > 0 ? ` | ${part}` : part;
  };
  for (let i = 0; i < schema.plain.length; i++) add(schema.plain[i]!);
  if (schema.list) add(listText(schema.list, terse));
  if (schema.map) add(mapText(schema.map, terse));
  if (schema.object) add(objectText(schema.object, terse));
  return out || "unknown";
}

function listText({ name, length, fixed, items }: ListSchema, terse: boolean): string {
  const head = fixed ? `${name}(${length})` : name;
  return length === 0 && fixed ? head : `${head} of ${grouped(items, terse)}`;
}

function mapText({ size, keys, values }: MapSchema, terse: boolean): string {
  return size === 0 ? "Map(0)" : `Map(${size}) of ${grouped(keys, terse)} => ${grouped(values, terse)}`;
}

function grouped(schema: ValueShape, terse: boolean): string {
  const parts = schema.plain.length + (schema.list ? 1 : 0) + (schema.map ? 1 : 0) + (schema.object ? 1 : 0);
  const text = write(schema, terse);
  return parts > 1 ? `(${text})` : text;
}

function sameValues(keys: readonly string[], fields: ObjectSchema["fields"]): string | null {
  const first = write(fields[keys[0]!]!.schema, true);
  for (let i = 1; i < keys.length; i++) if (write(fields[keys[i]!]!.schema, true) !== first) return null;
  return first;
}

function objectText({ name, keys, fields, count, more }: ObjectSchema, terse: boolean): string {
  let out = "";
  const total = keys.length + more,
    same = count === 1 && !name && total >= DICTIONARY ? sameValues(keys, fields) : null;
  if (same !== null) return `record of ${total}: string → ${same}`;
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!, field = fields[key]!;
    if (terse && out.length + key.length > TERSE_KEYS) return `${name ? `${name} ` : ""}{${out},... ${total - i} more}`;
    const shown = `${keyText(key)}${field.seen < count ? "?" : ""}`;
    out += `${i > 0 ? (terse ? "," : ", ") : ""}${terse ? shown : `${shown}: ${write(field.schema, terse)}`}`;
  }
  if (more > 0) out += `${terse ? "," : ", "}... ${more} more`;
  return `${name ? `${name} ` : ""}{${out}}`;
}

interface ValueShape {
  readonly plain: string[];
  list: ListSchema | null;
  object: ObjectSchema | null;
  map: MapSchema | null;
}

interface ListSchema {
  readonly name: string;
  readonly length: number;
  fixed: boolean;
  readonly items: ValueShape;
}

interface ObjectSchema {
  readonly name: string;
  readonly keys: string[];
  readonly fields: Record<string, { readonly schema: ValueShape; seen: number }>;
  count: number;
  more: number;
}

interface MapSchema {
  readonly size: number;
  readonly keys: ValueShape;
  readonly values: ValueShape;
}

const MAX_DEPTH = 10, MAX_KEYS = 20, MAX_ITEMS = 5, MAX_STEPS = 2000;
const MAX_KINDS = 1000;

function emptySchema(): ValueShape {
  return { plain: bareList(), list: null, object: null, map: null };
}

class SchemaReader {
  #steps = 0;
  #depth = 0;
  readonly #open = new look.Map<object, true>();

  read(value: unknown, schema: ValueShape): void {
    if (value === null || (typeof value !== "object" && typeof value !== "function")) {
      return addPlain(schema, value === null ? "null" : typeof value);
    }
    if (++this.#steps > MAX_STEPS || this.#depth > MAX_DEPTH) return addPlain(schema, "...");
    if (look.mapGet(this.#open, value)) return addPlain(schema, "circular");
    look.mapSet(this.#open, value, true);
    this.#depth++;
    this.#object(value, schema);
    this.#depth--;
    look.mapDelete(this.#open, value);
  }

  #object(value: object, schema: ValueShape): void {
    const kind = kindOf(value);
    switch (kind) {
      case "array":
      case "arguments":
        return this.#list(value, schema);
      case "typed":
        return addPlain(schema, `${classNameOf(value)}(${lengthOf(value)})`);
      case "set":
        return this.#set(value as Set<unknown>, schema);
      case "map":
        return this.#map(value as Map<unknown, unknown>, schema);
      case "object":
        return this.#fields(value, schema);
      default:
        return addPlain(schema, plainName(value, kind));
    }
  }

  #list(value: object, schema: ValueShape): void {
    const length = lengthOf(value);
    const list = joinList(schema, { name: classNameOf(value) || "Array", length });
    const kinds: Record<string, true> = look.create(null);
    const looked = this.#depth === 1 ? MAX_KINDS : MAX_ITEMS;
    for (let i = 0; i < length && i < looked; i++) {
      const descriptor = look.descriptorOf(value, i);
      if (!descriptor || !look.hasOwn(descriptor, "value")) continue;
      const kind = descriptor.value === null ? "null" : typeof descriptor.value;
      if (i >= MAX_ITEMS && kinds[kind]) continue;
      kinds[kind] = true;
      this.read(descriptor.value, list.items);
    }
  }

  #set(value: Set<unknown>, schema: ValueShape): void {
    const list = joinList(schema, { name: "Set", length: look.setSize(value) });
    const iterator = look.setValues(value);
    for (let i = 0; i < MAX_ITEMS; i++) {
      const next = look.setNext(iterator) as IteratorResult<unknown>;
      if (next.done) break;
      this.read(next.value, list.items);
    }
  }

  #map(value: Map<unknown, unknown>, schema: ValueShape): void {
    const map = schema.map ??= { size: look.mapSize(value), keys: emptySchema(), values: emptySchema() };
    const iterator = look.mapEntries(value);
    for (let i = 0; i < MAX_ITEMS; i++) {
      const next = look.mapNext(iterator) as IteratorResult<readonly [unknown, unknown]>;
      if (next.done) break;
      this.read(next.value[0], map.keys);
      this.read(next.value[1], map.values);
    }
  }

  #fields(value: object, schema: ValueShape): void {
    const keys = look.keys(value), name = classNameOf(value);
    const tag = keys.length === 0 ? tagOf(value) : "";
    if (tag) return addPlain(schema, tag);
    const object = schema.object ??= {
      name: name === "Object" ? "" : name,
      keys: bareList(),
      fields: look.create(null),
      count: 0,
      more: 0,
    };
    object.count++;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      let field = object.fields[key];
      if (!field) {
        if (object.keys.length >= MAX_KEYS) {
          if (keys.length - MAX_KEYS > object.more) object.more = keys.length - MAX_KEYS;
          break;
        }
        field = object.fields[key] = { schema: emptySchema(), seen: 0 };
        object.keys[object.keys.length] = key;
      }
      field.seen++;
      const descriptor = look.descriptorOf(value, key);
      if (descriptor && look.hasOwn(descriptor, "value")) this.read(descriptor.value, field.schema);
      else addPlain(field.schema, "getter");
    }
  }
}

function plainName(value: object, kind: ObjectKind): string {
  if (kind === "proxy") return "Proxy";
  if (kind === "function" || kind === "class") return kind;
  return classNameOf(value) || kind;
}

function addPlain(schema: ValueShape, name: string): void {
  for (let i = 0; i < schema.plain.length; i++) if (schema.plain[i] === name) return;
  schema.plain[schema.plain.length] = name;
}

function joinList(
  schema: ValueShape,
  { name, length }: { readonly name: string; readonly length: number },
): ListSchema {
  if (!schema.list) return schema.list = { name, length, fixed: true, items: emptySchema() };
  if (schema.list.length !== length) schema.list.fixed = false;
  return schema.list;
}

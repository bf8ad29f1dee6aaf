import { bareList } from "../../codec/intrinsics.ts";
import { look } from "../intrinsics/look.ts";
import { classNameOf, kindOf, lengthOf, type ObjectKind, tagOf } from "./object_kind.ts";

/** What was found at one place of a value: several kinds if they differ. */
export interface ValueShape {
  /** "string", "null", "Date", "() => " … in order of appearance. */
  readonly plain: string[];
  list: ListSchema | null;
  object: ObjectSchema | null;
  map: MapSchema | null;
}

export interface ListSchema {
  /** "Array", "Set" or the name of a typed array or a class. */
  readonly name: string;
  readonly length: number;
  /** False if lists of different lengths were found. */
  fixed: boolean;
  readonly items: ValueShape;
}

export interface ObjectSchema {
  /** "" for plain objects. */
  readonly name: string;
  readonly keys: string[];
  readonly fields: Record<string, { readonly schema: ValueShape; seen: number }>;
  /** How many objects were found here. */
  count: number;
  /** Keys that are not in `keys`. */
  more: number;
}

export interface MapSchema {
  readonly size: number;
  readonly keys: ValueShape;
  readonly values: ValueShape;
}

const MAX_DEPTH = 10, MAX_KEYS = 20, MAX_ITEMS = 5, MAX_STEPS = 2000;
/** Items of a list at the top that are looked at for another kind than those before them. */
const MAX_KINDS = 1000;

export function emptySchema(): ValueShape {
  return { plain: bareList(), list: null, object: null, map: null };
}

/** Inspects a value to a bounded depth and width; runs no code of it. For one use. */
export class SchemaReader {
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

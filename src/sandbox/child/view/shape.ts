import { look } from "../intrinsics/look.ts";
import { keyText } from "./leaf_text.ts";
import {
  emptySchema,
  type ListSchema,
  type MapSchema,
  type ObjectSchema,
  SchemaReader,
  type ValueShape,
} from "./shape_schema.ts";

export interface ShapeOptions {
  /** Keys without their types: `Array(7) of {path,line}`. */
  readonly terse?: boolean;
  readonly chars?: number;
}

/** The structure of a value, such as `Array(7) of {path: string, line?: number}`, from a sample bounded in depth, keys
 * and items. Runs no code of the value. Never throws. */
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

/** An object with so many keys and values of one type is a dictionary. */
const DICTIONARY = 9;
/** Most characters of the keys of an object without their types. */
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

/** What all fields hold, in short; null if they differ. */
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

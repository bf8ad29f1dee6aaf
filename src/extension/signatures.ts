import { shorten } from "../domain/kit/text.ts";
import type { FunctionSymbol } from "./spec.ts";
import { z } from "zod";

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** JSON Schema cannot express these types. For any other such type, the author sets its text: `.meta({ tsType:
 * "Uint8Array" })`. */
const BEYOND_JSON: Readonly<Record<string, string>> = {
  date: "Date",
  bigint: "bigint",
  map: "Map<unknown, unknown>",
  set: "Set<unknown>",
  undefined: "undefined",
  symbol: "symbol",
};
const PARAMETERS = new WeakMap<FunctionSymbol, string>();

export function signatureOf(alias: string, symbol: FunctionSymbol): string {
  const parameters = PARAMETERS.get(symbol) ?? parametersOf(symbol);
  PARAMETERS.set(symbol, parameters);
  return `${alias}.${symbol.name}(${parameters}): Promise<${symbol.returns}>`;
}

type Item = z.core.JSONSchema.BaseSchema;

function parametersOf(symbol: FunctionSymbol): string {
  const root: Item = z.toJSONSchema(symbol.args, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const name = BEYOND_JSON[zodSchema._zod.def.type];
      if (name) jsonSchema["tsType"] = name;
    },
  });
  const items = (root.prefixItems ?? []).map(itemOf);
  const names = parameterNames(items);
  const parameters = items.map((item, at) =>
    `${names[at]}${at < (root.minItems ?? 0) && !("default" in item) ? "" : "?"}: ${schemaText(item, { root })}`
  );
  if (typeof root.items === "object") {
    const rest = itemOf(root.items);
    parameters.push(`...${nameOf(rest) ?? "rest"}: ${schemaText({ type: "array", items: rest }, { root })}`);
  }
  return parameters.join(", ");
}

function itemOf(item: unknown): Item {
  return typeof item === "object" ? item as Item : {};
}

function parameterNames(items: readonly Item[]): string[] {
  const names: string[] = [];
  for (const item of items) {
    const wanted = nameOf(item) ?? (item.type === "object" ? "options" : `arg${names.length + 1}`);
    names.push(names.includes(wanted) ? `${wanted}${names.length + 1}` : wanted);
  }
  return names;
}

function nameOf({ title, description }: Item): string | null {
  return [title, description].find((one) => one !== undefined && IDENTIFIER.test(one)) ?? null;
}

type Schema = Readonly<Record<string, unknown>>;

interface SchemaTextOptions {
  /** `root` is the schema in which Vis looks up a `$ref`; the default is the schema itself. */
  readonly root?: unknown;
  /** If true, descriptions of top-level keys become comments, and `tsType` has no effect, as for a foreign schema. */
  readonly notes?: boolean;
}

interface Place {
  readonly root: Schema;
  readonly notes: boolean;
  readonly depth: number;
  readonly room: { left: number };
}

const MAX_DEPTH = 8, MAX_KEYS = 60, MAX_ENUM = 30, ROOM = 300, MAX_CHARS = 6_000, MAX_NOTE = 120;

/** A type that JSON Schema cannot express gives its text in `tsType`. */
export function schemaText(schema: unknown, { root = schema, notes = false }: SchemaTextOptions = {}): string {
  const text = typeText(asSchema(schema), { root: asSchema(root), notes, depth: 0, room: { left: ROOM } });
  return text.length > MAX_CHARS ? "object" : text;
}

function typeText(schema: Schema, place: Place): string {
  if (place.depth > MAX_DEPTH || --place.room.left < 0) return "unknown";
  const inner = { ...place, depth: place.depth + 1 };
  const { tsType, $ref: reference, anyOf, oneOf = anyOf, allOf, type } = schema;
  if (typeof tsType === "string" && !place.notes) return tsType;
  if (typeof reference === "string") return typeText(referred(reference, place.root), inner);
  if ("const" in schema) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) return enumText(schema["enum"]);
  if (Array.isArray(oneOf)) return unionText(oneOf.slice(0, MAX_ENUM).map((one) => typeText(asSchema(one), inner)));
  if (Array.isArray(allOf)) {
    return allOf.slice(0, MAX_ENUM).map((one) => grouped(typeText(asSchema(one), inner))).join(" & ") || "unknown";
  }
  if (Array.isArray(type)) return unionText(type.slice(0, 8).map((one) => typeText({ ...schema, type: one }, inner)));
  if (type === "array") return arrayText(schema, inner);
  if (type === "object" || "properties" in schema) return objectText(schema, inner);
  if (type === "integer") return "number";
  return type === "string" || type === "number" || type === "boolean" || type === "null" ? type : "unknown";
}

function arrayText({ prefixItems, minItems, items }: Schema, place: Place): string {
  const rest = `${grouped(typeText(asSchema(items), place))}[]`;
  if (!Array.isArray(prefixItems) || prefixItems.length === 0) return rest;
  const parts = prefixItems.slice(0, MAX_KEYS).map((item, at) => {
    const text = typeText(asSchema(item), place);
    return at < Number(minItems ?? 0) ? text : `${grouped(text)}?`;
  });
  return `[${[...parts, ...(typeof items === "object" ? [`...${rest}`] : [])].join(", ")}]`;
}

function objectText(schema: Schema, place: Place): string {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties = Object.entries(asSchema(schema["properties"]));
  const keys = properties.slice(0, MAX_KEYS).map(([key, value]) => {
    const property = asSchema(value);
    const name = IDENTIFIER.test(key) ? key : literal(key);
    return `${name}${required.includes(key) ? "" : "?"}: ${typeText(property, place)}${note(property, place)}`;
  });
  if (properties.length > MAX_KEYS) keys.push(`/* ${properties.length - MAX_KEYS} more */`);
  const more = schema["additionalProperties"];
  const record = typeof more === "object" && more !== null
    ? `Record<string, ${typeText(asSchema(more), place)}>`
    : null;
  if (keys.length === 0) return record ?? "object";
  return record === null ? `{${keys.join(", ")}}` : `{${keys.join(", ")}} & ${record}`;
}

function note({ description }: Schema, { depth, notes }: Place): string {
  if (!notes || depth > 1 || typeof description !== "string" || description.trim() === "") return "";
  const text = description.slice(0, MAX_NOTE + 1).replaceAll("*/", "* /").replace(/\s+/g, " ").trim();
  return ` /* ${shorten(text, MAX_NOTE)} */`;
}

function enumText(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_ENUM).map(literal);
  return unionText(values.length > MAX_ENUM ? [...shown, typeof values[0] === "string" ? "string" : "unknown"] : shown);
}

function unionText(types: readonly string[]): string {
  return [...new Set(types)].join(" | ") || "unknown";
}

function grouped(type: string): string {
  let depth = 0;
  for (const char of type) {
    if ("{[(<".includes(char)) depth++;
    else if ("}])>".includes(char)) depth--;
    else if (depth === 0 && (char === "|" || char === "&")) return `(${type})`;
  }
  return type;
}

function literal(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 200 ? "unknown" : text;
}

function referred(reference: string, root: Schema): Schema {
  if (!reference.startsWith("#")) return {};
  let found: unknown = root;
  for (const step of reference.slice(1).split("/").filter((one) => one !== "").slice(0, 10)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    found = typeof found === "object" && found !== null && Object.hasOwn(found, key)
      ? Reflect.get(found, key)
      : undefined;
  }
  return asSchema(found);
}

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Schema : {};
}

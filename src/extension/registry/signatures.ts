import { z } from "zod";
import type { FunctionSymbol } from "../spec.ts";

type Schema = Readonly<Record<string, unknown>>;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const MAX_DEPTH = 6;
/** Types that JSON Schema cannot express. Other types name themselves: `.meta({ tsType: "Uint8Array" })`. */
const BEYOND_JSON: Readonly<Record<string, string>> = {
  date: "Date",
  bigint: "bigint",
  map: "Map<unknown, unknown>",
  set: "Set<unknown>",
  undefined: "undefined",
  symbol: "symbol",
};
/** Cached: printing a schema takes a millisecond, and prompts are rendered for each query. */
const PARAMETERS = new WeakMap<FunctionSymbol, string>();

/** Returns one line of TypeScript for a function symbol, built from its zod tuple: `search.find(query: string,
 * options?: {limit?: number}): Promise<string>`. */
export function signatureOf(alias: string, symbol: FunctionSymbol): string {
  const parameters = PARAMETERS.get(symbol) ?? parametersOf(symbol);
  PARAMETERS.set(symbol, parameters);
  return `${alias}.${symbol.name}(${parameters}): Promise<${symbol.returns}>`;
}

function parametersOf(symbol: FunctionSymbol): string {
  const root = asSchema(z.toJSONSchema(symbol.args, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const name = BEYOND_JSON[zodSchema._zod.def.type];
      if (name) jsonSchema["tsType"] = name;
    },
  }));
  const items = schemas(root["prefixItems"]);
  const required = typeof root["minItems"] === "number" ? root["minItems"] : 0;
  const names = parameterNames(items);
  const defs = asSchema(root["$defs"]);
  const parameters = items.map((item, at) =>
    `${names[at]}${at < required && !("default" in item) ? "" : "?"}: ${typeText(item, { defs, depth: 0 })}`
  );
  const rest = root["items"];
  if (typeof rest === "object" && rest !== null) {
    parameters.push(`...${nameOf(asSchema(rest)) ?? "rest"}: ${arrayOf(asSchema(rest), { defs, depth: 0 })}`);
  }
  return parameters.join(", ");
}

/** An item's own name, or else one derived from its type; names are unique. */
function parameterNames(items: readonly Schema[]): string[] {
  const names: string[] = [];
  for (const item of items) {
    const wanted = nameOf(item) ?? (item["type"] === "object" ? "options" : `arg${names.length + 1}`);
    names.push(names.includes(wanted) ? `${wanted}${names.length + 1}` : wanted);
  }
  return names;
}

function nameOf(item: Schema): string | null {
  for (const told of [item["title"], item["description"]]) {
    if (typeof told === "string" && IDENTIFIER.test(told)) return told;
  }
  return null;
}

interface Place {
  readonly defs: Schema;
  readonly depth: number;
}

function typeText(schema: Schema, place: Place): string {
  if (place.depth > MAX_DEPTH) return "unknown";
  const inner = { ...place, depth: place.depth + 1 };
  if (typeof schema["tsType"] === "string") return schema["tsType"];
  if (typeof schema["$ref"] === "string") return typeText(referred(schema["$ref"], place.defs), inner);
  if ("const" in schema) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) return [...new Set(schema["enum"].map(literal))].join(" | ");
  const either = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(either)) return [...new Set(schemas(either).map((one) => typeText(one, inner)))].join(" | ");
  if (Array.isArray(schema["allOf"])) {
    return schemas(schema["allOf"]).map((one) => grouped(typeText(one, inner))).join(" & ");
  }
  const type = schema["type"];
  if (Array.isArray(type)) return type.map((one) => typeText({ ...schema, type: one }, inner)).join(" | ");
  switch (type) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return type;
    case "array":
      return arrayText(schema, inner);
    case "object":
      return objectText(schema, inner);
    default:
      return "unknown";
  }
}

function arrayText(schema: Schema, place: Place): string {
  const items = schemas(schema["prefixItems"]);
  const rest = schema["items"];
  if (items.length === 0) return arrayOf(asSchema(rest), place);
  const required = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
  const parts = items.map((item, at) => at < required ? typeText(item, place) : `${grouped(typeText(item, place))}?`);
  if (typeof rest === "object" && rest !== null) parts.push(`...${arrayOf(asSchema(rest), place)}`);
  return `[${parts.join(", ")}]`;
}

function arrayOf(item: Schema, place: Place): string {
  return `${grouped(typeText(item, place))}[]`;
}

function objectText(schema: Schema, place: Place): string {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const keys = Object.entries(asSchema(schema["properties"])).map(([key, raw]) => {
    const property = asSchema(raw);
    const optional = !required.includes(key) || "default" in property;
    return `${IDENTIFIER.test(key) ? key : JSON.stringify(key)}${optional ? "?" : ""}: ${typeText(property, place)}`;
  });
  const more = schema["additionalProperties"];
  if (typeof more !== "object" || more === null) return keys.length > 0 ? `{${keys.join(", ")}}` : "object";
  const value = typeText(asSchema(more), place);
  return keys.length > 0 ? `{${keys.join(", ")}} & Record<string, ${value}>` : `Record<string, ${value}>`;
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
  return value === undefined ? "undefined" : JSON.stringify(value);
}

function referred(reference: string, defs: Schema): Schema {
  return asSchema(defs[reference.split("/").pop() ?? ""]);
}

function schemas(value: unknown): Schema[] {
  return Array.isArray(value) ? value.map(asSchema) : [];
}

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

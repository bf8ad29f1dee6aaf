type Schema = Readonly<Record<string, unknown>>;

interface Place {
  readonly root: Schema;
  readonly depth: number;
  /** Remaining space for the whole type. */
  readonly room: { left: number };
}

const MAX_DEPTH = 8, MAX_KEYS = 60, MAX_ENUM = 30, ROOM = 300, MAX_CHARS = 6_000, MAX_NOTE = 120;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Converts a JSON Schema to a TypeScript type, with descriptions of its keys; bounded for any schema. */
export function schemaText(schema: unknown): string {
  const root = asSchema(schema);
  const text = typeText(root, { root, depth: 0, room: { left: ROOM } });
  return text.length > MAX_CHARS ? "object" : text;
}

function typeText(schema: Schema, place: Place): string {
  if (place.depth > MAX_DEPTH || --place.room.left < 0) return "unknown";
  const inner = { ...place, depth: place.depth + 1 };
  if (typeof schema["$ref"] === "string") return typeText(referred(schema["$ref"], place.root), inner);
  if ("const" in schema) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) return enumText(schema["enum"]);
  const either = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(either)) return unionText(either.slice(0, MAX_ENUM).map((one) => typeText(asSchema(one), inner)));
  const all = schema["allOf"];
  if (Array.isArray(all)) {
    return all.slice(0, MAX_ENUM).map((one) => grouped(typeText(asSchema(one), inner))).join(" & ") || "unknown";
  }
  const type = schema["type"];
  if (Array.isArray(type)) return unionText(type.slice(0, 8).map((one) => typeText({ ...schema, type: one }, inner)));
  if (type === "array") return `${grouped(typeText(asSchema(schema["items"]), inner))}[]`;
  if (type === "object" || "properties" in schema) return objectText(schema, inner);
  if (type === "integer") return "number";
  return type === "string" || type === "number" || type === "boolean" || type === "null" ? type : "unknown";
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

/** Descriptions of top-level keys. */
function note({ description }: Schema, { depth }: Place): string {
  if (depth > 1 || typeof description !== "string" || description.trim() === "") return "";
  const text = description.slice(0, MAX_NOTE + 1).replaceAll("*/", "* /").replace(/\s+/g, " ").trim();
  return ` /* ${text.length > MAX_NOTE ? `${text.slice(0, MAX_NOTE)}…` : text} */`;
}

function enumText(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_ENUM).map(literal);
  return unionText(values.length > MAX_ENUM ? [...shown, typeof values[0] === "string" ? "string" : "unknown"] : shown);
}

function unionText(types: readonly string[]): string {
  return [...new Set(types)].join(" | ") || "unknown";
}

function grouped(type: string): string {
  return / [|&] /.test(type) && !/^[{[][^|&]*[}\]]$/.test(type) ? `(${type})` : type;
}

function literal(value: unknown): string {
  const text = JSON.stringify(value) ?? "undefined";
  return text.length > 200 ? "unknown" : text;
}

/** Resolves `#/$defs/Name` and other references within the schema. */
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

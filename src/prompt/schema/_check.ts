import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";
import { UsageError } from "../../domain/errors.ts";
import type { JsonValue } from "../../domain/kit/json.ts";
import { percentDecoded } from "../../domain/kit/addresses.ts";
import { clip } from "../../domain/kit/text.ts";

/** One schema of a document: an object with keywords, or a boolean. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** A document in which every keyword has a form that the validator supports. */
export interface CheckedSchema {
  readonly root: JsonSchema;
  /** The schema that a `$ref` of the document refers to. */
  readonly resolve: (ref: string) => JsonSchema;
  /** Tests a `pattern` of the document with an engine that takes linear time. */
  readonly matches: (pattern: string, text: string) => boolean;
  /** Before 2019-09, keywords next to a `$ref` are ignored. */
  readonly refAlone: boolean;
}

const MAX_CHARS = 1_000_000;
const MAX_DEPTH = 200;
const DRAFTS = /^https?:\/\/json-schema\.org\/(?:draft\/(2020-12|2019-09)|draft-(07|06))\/schema#?$/;
const ONE = ["additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else"];
const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAP = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
const COUNT = ["minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties"];
const NUMBER = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"];
const BEYOND = ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"];

/** Reads a JSON Schema: draft-07, or draft 2020-12 or 2019-09 without the keywords that depend on the results of
 * others. Throws `UsageError` that names the location and the problem. */
export function checkSchema(document: unknown): CheckedSchema {
  if (typeof document !== "boolean" && !isJsonObject(document)) {
    throw new UsageError("Cannot use the schema: it must be a JSON object, or true or false");
  }
  const size = JSON.stringify(document).length;
  if (size > MAX_CHARS) throw new UsageError(`Cannot use the schema: ${size} characters, the limit is ${MAX_CHARS}`);
  const walk = new Walk(document);
  return walk.checked();
}

class Walk {
  readonly #root: JsonSchema;
  readonly #anchors = new Map<string, JsonSchema>();
  readonly #refs = new Map<string, JsonSchema>();
  readonly #wanted: { readonly ref: string; readonly path: string }[] = [];
  readonly #patterns = new Map<string, RE2JS>();
  readonly #seen = new Set<JsonSchema>();
  readonly #refAlone: boolean;

  constructor(root: JsonSchema) {
    this.#root = root;
    const draft = isJsonObject(root) && root["$schema"] !== undefined ? DRAFTS.exec(String(root["$schema"])) : null;
    if (isJsonObject(root) && root["$schema"] !== undefined && !draft) {
      throw fault("$schema names no draft that is known (2020-12, 2019-09, draft-07)", "#");
    }
    this.#refAlone = draft?.[2] !== undefined;
  }

  checked(): CheckedSchema {
    this.#schema(this.#root, { path: "#", depth: 0 });
    for (let next = this.#wanted.pop(); next; next = this.#wanted.pop()) {
      if (this.#refs.has(next.ref)) continue;
      const found = this.#find(next);
      this.#refs.set(next.ref, found);
      this.#schema(found, { path: next.ref, depth: 0 });
    }
    return {
      root: this.#root,
      resolve: (ref) => this.#refs.get(ref) ?? true,
      matches: (pattern, text) => this.#patterns.get(pattern)?.matcher(text).find() ?? true,
      refAlone: this.#refAlone,
    };
  }

  #schema(value: unknown, at: { readonly path: string; readonly depth: number }): void {
    const { path, depth } = at;
    if (typeof value === "boolean") return;
    if (!isJsonObject(value)) throw fault("a schema must be an object, or true or false", path);
    if (depth > MAX_DEPTH) throw fault("it is nested too deep", path);
    if (this.#seen.has(value)) return;
    this.#seen.add(value);
    this.#identity(value, path);
    this.#plain(value, path);
    const below = (schema: unknown, key: string): void => this.#schema(schema, { path: key, depth: depth + 1 });
    for (const key of ONE) if (Object.hasOwn(value, key)) below(value[key], `${path}/${key}`);
    for (const key of LIST) this.#list(value, { key, path }).forEach((one, i) => below(one, `${path}/${key}/${i}`));
    for (const key of MAP) {
      for (const [name, one] of Object.entries(objectAt(value, { key, path }))) {
        if (key === "patternProperties") this.#pattern(name, `${path}/${key}`);
        below(one, `${path}/${key}/${name}`);
      }
    }
    const { items, dependencies } = value;
    if (Array.isArray(items)) items.forEach((one, i) => below(one, `${path}/items/${i}`));
    else if (items !== undefined) below(items, `${path}/items`);
    for (const [name, one] of Object.entries(isJsonObject(dependencies) ? dependencies : {})) {
      if (!Array.isArray(one)) below(one, `${path}/dependencies/${name}`);
    }
  }

  #identity(schema: Readonly<Record<string, unknown>>, path: string): void {
    for (const key of BEYOND) if (Object.hasOwn(schema, key)) throw fault(`${key} is not supported`, path);
    const { $ref, $id, $anchor } = schema;
    if ($ref !== undefined) {
      if (typeof $ref !== "string") throw fault("$ref must be a string", path);
      this.#wanted.push({ ref: $ref, path });
    }
    if (typeof $id === "string" && schema !== this.#root) {
      if (!$id.startsWith("#")) throw fault("an $id below the root is not supported", path);
      this.#anchors.set($id.slice(1), schema);
    }
    if (typeof $anchor === "string") this.#anchors.set($anchor, schema);
  }

  /** Keywords whose values are not schemas. */
  #plain(schema: Readonly<Record<string, unknown>>, path: string): void {
    const must = (key: string, { be, what }: { readonly be: (value: unknown) => boolean; readonly what: string }) => {
      if (Object.hasOwn(schema, key) && !be(schema[key])) throw fault(`${key} must be ${what}`, path);
    };
    for (const key of [...COUNT, "maxProperties"]) must(key, { be: isCount, what: "a whole number of at least 0" });
    for (const key of NUMBER) must(key, { be: (value) => typeof value === "number", what: "a number" });
    must("multipleOf", { be: (value) => Number(value) > 0, what: "above 0" });
    must("type", { be: isType, what: `one of ${TYPES.join(", ")}, or a list of these` });
    must("enum", { be: Array.isArray, what: "a list" });
    must("required", { be: isNames, what: "a list of names" });
    must("uniqueItems", { be: (value) => typeof value === "boolean", what: "true or false" });
    must("format", { be: (value) => typeof value === "string", what: "a string" });
    must("pattern", { be: (value) => typeof value === "string", what: "a string" });
    if (typeof schema["pattern"] === "string") this.#pattern(schema["pattern"], path);
    for (const [name, names] of Object.entries(objectAt(schema, { key: "dependentRequired", path }))) {
      if (!isNames(names)) throw fault(`dependentRequired/${name} must be a list of names`, path);
    }
    for (const [name, one] of Object.entries(objectAt(schema, { key: "dependencies", path }))) {
      if (Array.isArray(one) && !isNames(one)) throw fault(`dependencies/${name} must be a list of names`, path);
    }
  }

  #list(
    schema: Readonly<Record<string, unknown>>,
    { key, path }: { readonly key: string; readonly path: string },
  ): readonly unknown[] {
    const list = schema[key];
    if (list === undefined) return [];
    if (!Array.isArray(list) || list.length === 0) throw fault(`${key} must be a list of schemas`, path);
    return list;
  }

  #pattern(pattern: string, path: string): void {
    if (this.#patterns.has(pattern)) return;
    try {
      this.#patterns.set(pattern, RE2JS.compile(RE2JS.translateRegExp(pattern)));
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      const why = error instanceof RE2JSSyntaxException ? `${error.error}: \`${error.input}\`` : error.message;
      throw fault(
        `the pattern ${clip(pattern, 100)} cannot be used (${why}): no look-around, no back-references`,
        path,
      );
    }
  }

  #find({ ref, path }: { readonly ref: string; readonly path: string }): JsonSchema {
    const id = isJsonObject(this.#root) ? this.#root["$id"] : undefined;
    const own = typeof id === "string" && ref.startsWith(id.replace(/#$/, ""))
      ? ref.slice(id.replace(/#$/, "").length)
      : ref;
    if (own !== "" && !own.startsWith("#")) throw fault(`$ref ${clip(ref, 200)} leaves the document`, path);
    const found = own.length <= 1 ? this.#root : own[1] === "/" ? this.#pointed(own) : this.#anchors.get(own.slice(1));
    if (found === undefined) throw fault(`$ref ${clip(ref, 200)} names nothing in the document`, path);
    return found;
  }

  #pointed(ref: string): JsonSchema | undefined {
    let at: unknown = this.#root;
    for (const part of percentDecoded(ref).slice(2).split("/")) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
      at = Object.getOwnPropertyDescriptor(at, key)?.value;
    }
    return typeof at === "boolean" || isJsonObject(at) ? at : undefined;
  }
}

function objectAt(
  schema: Readonly<Record<string, unknown>>,
  { key, path }: { readonly key: string; readonly path: string },
): Readonly<Record<string, unknown>> {
  const value = schema[key];
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw fault(`${key} must be an object`, path);
  return value;
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

function isType(value: unknown): boolean {
  const names: unknown[] = Array.isArray(value) ? value : [value];
  return names.length > 0 && names.every((name) => typeof name === "string" && TYPES.includes(name));
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}

function fault(what: string, path: string): UsageError {
  return new UsageError(`Cannot use the schema: at ${clip(path, 200)}: ${what}`);
}

export function isJsonObject(value: unknown): value is { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

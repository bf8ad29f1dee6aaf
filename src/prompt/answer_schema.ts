import { RE2JS, RE2JSException, RE2JSSyntaxException } from "re2js";
import { messageOf, reasonOf, UsageError } from "../domain/errors.ts";
import { percentDecoded } from "../domain/kit/addresses.ts";
import { type JsonValue, jsonValue } from "../domain/kit/json.ts";
import { clip, counted } from "../domain/kit/text.ts";

export type Offered = { readonly value: unknown } | { readonly text: string };

export type Judged =
  | { readonly ok: true; readonly value: JsonValue; readonly text: string }
  | { readonly ok: false; readonly reason: string };

const SHOWN_CHARS = 4_000;
const HEAD_CHARS = 3_000;
const SHOWN_FAULTS = 5;
const FENCED = /^\s*```(?:json)?[^\S\n]*\n([\s\S]*?)\n?\s*```\s*$/i;

export class AnswerSchema {
  readonly text: string;
  readonly #judge: SchemaJudge;
  /** The answer may be plain text only if the schema allows neither `{}` nor `[]`. */
  readonly #plainText: boolean;
  #refused: string | null = null;

  constructor(schema: unknown) {
    this.#judge = new SchemaJudge(checkSchema(schema));
    this.text = JSON.stringify(schema);
    try {
      const structures: readonly JsonValue[] = [{}, []];
      this.#plainText = structures.every((value) => this.#judge.judge(value, 1).length > 0);
      this.#judge.judge(null, 1);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new UsageError("Cannot use the schema: it refers to itself endlessly, or is too complex; simplify it");
    }
  }

  get refused(): string | null {
    return this.#refused;
  }

  get variable(): string | null {
    return this.text.length > SHOWN_CHARS ? this.text : null;
  }

  get instructions(): string {
    const { text } = this;
    const shown = text.length <= SHOWN_CHARS
      ? text
      : `${text.slice(0, HEAD_CHARS).replace(/[\ud800-\udbff]$/, "")}\n[… ${
        text.length - HEAD_CHARS
      } of ${text.length} characters are not shown: the whole schema is the string $schema …]`;
    return `The final answer of this request must be JSON that satisfies this JSON Schema; anything else is refused:
${shown}
Best: build the value in code and call answer(value). Or "answer": the name of one variable that holds it, or the JSON itself as a string. No prose, no fence around it.`;
  }

  judge(offered: Offered): Judged {
    const judged = "text" in offered ? this.#text(offered.text) : this.#value(offered.value);
    this.#refused = judged.ok ? null : judged.reason;
    return judged;
  }

  #value(value: unknown): Judged {
    let data: JsonValue;
    try {
      data = jsonValue(value);
    } catch (error) {
      return { ok: false, reason: `The answer is not JSON (${reasonOf(error)})` };
    }
    const first = this.#fit(data);
    if (first.ok || typeof value !== "string") return first;
    const parsed = parse(value);
    const second = parsed.ok ? this.#fit(parsed.value) : first;
    return second.ok || isStructure(parsed) ? second : first;
  }

  #text(text: string): Judged {
    const parsed = parse(text);
    const first: Judged = parsed.ok ? this.#fit(parsed.value) : {
      ok: false,
      reason: `The answer must be JSON that fits the schema, and this is not JSON (${clip(parsed.why, 150)})`,
    };
    if (first.ok || !this.#plainText) return first;
    const second = this.#fit(text);
    return second.ok ? second : first;
  }

  #fit(value: JsonValue): Judged {
    let faults: readonly SchemaFault[];
    try {
      faults = this.#judge.judge(value, SHOWN_FAULTS);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // The engine throws its own RangeError for a stack overflow.
      return {
        ok: false,
        reason: "Vis cannot check the answer: it is nested too deeply, or its check takes too long; simplify it",
      };
    }
    if (faults.length === 0) return { ok: true, value, text: JSON.stringify(value, null, 2) };
    const lines = faults.map(({ path, message }) => `${path === "" ? "the value" : clip(path, 200)} ${message}`);
    return { ok: false, reason: `The answer does not fit the schema: ${lines.join("; ")}` };
  }
}

type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly why: string };

function parse(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(FENCED.exec(text)?.[1] ?? text) };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

function isStructure(parsed: Parsed): boolean {
  return parsed.ok && typeof parsed.value === "object" && parsed.value !== null;
}

type JsonSchema = boolean | { readonly [keyword: string]: unknown };

interface CheckedSchema {
  readonly root: JsonSchema;
  readonly resolve: (ref: string) => JsonSchema;
  /** The time of a match is linear in the length of `text`. */
  readonly matches: (pattern: string, text: string) => boolean;
  /** If true, keywords next to a `$ref` have no effect, as before draft 2019-09. */
  readonly refAlone: boolean;
}

const MAX_CHARS = 1_000_000;
const MAX_DEPTH = 200;
const DRAFTS = /^https?:\/\/json-schema\.org\/(?:draft\/(2020-12|2019-09)|draft-(07|06))\/schema#?$/;
const KNOWN = "2020-12, 2019-09, draft-07 or draft-06";
const ONE = ["additionalProperties", "additionalItems", "contains", "propertyNames", "not", "if", "then", "else"];
const LIST = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAP = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
const COUNT = ["minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties"];
const NUMBER = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"];
const BEYOND = ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"];

function checkSchema(document: unknown): CheckedSchema {
  if (typeof document !== "boolean" && !isJsonObject(document)) {
    throw new UsageError("Cannot use the schema: it must be a JSON object, or true or false");
  }
  const size = JSON.stringify(document).length;
  if (size > MAX_CHARS) {
    throw new UsageError(
      `Cannot use the schema: it has ${size} characters, more than the limit of ${MAX_CHARS}; simplify it`,
    );
  }
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
      throw unusable(`$schema names an unknown draft, ${clip(String(root["$schema"]), 100)}; use ${KNOWN}`, "#");
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
    if (!isJsonObject(value)) throw unusable("a schema must be an object, or true or false", path);
    if (depth > MAX_DEPTH) throw unusable(`the schema has more nested levels than the limit of ${MAX_DEPTH}`, path);
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
    for (const key of BEYOND) if (Object.hasOwn(schema, key)) throw unusable(`Vis does not support ${key}`, path);
    const { $ref, $id, $anchor } = schema;
    if ($ref !== undefined) {
      if (typeof $ref !== "string") throw unusable("$ref must be a string", path);
      this.#wanted.push({ ref: $ref, path });
    }
    if (typeof $id === "string" && schema !== this.#root) {
      if (!$id.startsWith("#")) throw unusable("Vis supports an address as $id only at the root", path);
      this.#anchors.set($id.slice(1), schema);
    }
    if (typeof $anchor === "string") this.#anchors.set($anchor, schema);
  }

  #plain(schema: Readonly<Record<string, unknown>>, path: string): void {
    const must = (key: string, { be, what }: { readonly be: (value: unknown) => boolean; readonly what: string }) => {
      if (Object.hasOwn(schema, key) && !be(schema[key])) throw unusable(`${key} must be ${what}`, path);
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
      if (!isNames(names)) throw unusable(`dependentRequired/${name} must be a list of names`, path);
    }
    for (const [name, one] of Object.entries(objectAt(schema, { key: "dependencies", path }))) {
      if (Array.isArray(one) && !isNames(one)) throw unusable(`dependencies/${name} must be a list of names`, path);
    }
  }

  #list(
    schema: Readonly<Record<string, unknown>>,
    { key, path }: { readonly key: string; readonly path: string },
  ): readonly unknown[] {
    const list = schema[key];
    if (list === undefined) return [];
    if (!Array.isArray(list) || list.length === 0) {
      throw unusable(`${key} must be a list with at least one schema`, path);
    }
    return list;
  }

  #pattern(pattern: string, path: string): void {
    if (this.#patterns.has(pattern)) return;
    try {
      this.#patterns.set(pattern, RE2JS.compile(RE2JS.translateRegExp(pattern)));
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      const why = error instanceof RE2JSSyntaxException ? `${error.error} \`${error.input}\`` : error.message;
      throw unusable(
        `Vis cannot compile the pattern ${
          clip(pattern, 100)
        } (${why}); Vis supports no look-around and no back-references`,
        path,
      );
    }
  }

  #find({ ref, path }: { readonly ref: string; readonly path: string }): JsonSchema {
    const id = isJsonObject(this.#root) ? this.#root["$id"] : undefined;
    const own = typeof id === "string" && ref.startsWith(id.replace(/#$/, ""))
      ? ref.slice(id.replace(/#$/, "").length)
      : ref;
    if (own !== "" && !own.startsWith("#")) throw unusable(`$ref ${clip(ref, 200)} leads outside the document`, path);
    const found = own.length <= 1 ? this.#root : own[1] === "/" ? this.#pointed(own) : this.#anchors.get(own.slice(1));
    if (found === undefined) throw unusable(`$ref ${clip(ref, 200)} leads to no schema in the document`, path);
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
  if (!isJsonObject(value)) throw unusable(`${key} must be an object`, path);
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

function unusable(what: string, path: string): UsageError {
  return new UsageError(`Cannot use the schema: at ${clip(path, 200)}, ${what}`);
}

function isJsonObject(value: unknown): value is { readonly [key: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface SchemaFault {
  /** The path is a JSON pointer with clipped names; "" is the whole value. */
  readonly path: string;
  readonly message: string;
  /** If true, no alternative fits, and the faults that follow belong to the nearest alternative. */
  readonly noForm?: boolean;
}

type Keywords = Readonly<Record<string, unknown>>;
interface Place {
  readonly path: string;
  readonly depth: number;
}

const MAX_STEPS = 2_000_000;
const STEPS_FOR_A_PART = 50;
const NEAREST_FAULTS = 5;
const MAX_VALUE_DEPTH = 1_500;

/** `judge` throws RangeError if a check takes too many steps or goes too deep. */
class SchemaJudge {
  readonly #checked: CheckedSchema;
  #left = 0;

  constructor(checked: CheckedSchema) {
    this.#checked = checked;
  }

  judge(value: JsonValue, limit: number): readonly SchemaFault[] {
    this.#left = MAX_STEPS + STEPS_FOR_A_PART * partsOf(value);
    const faults: SchemaFault[] = [];
    for (const fault of this.#schema(this.#checked.root, value, { path: "", depth: 0 })) {
      faults.push(fault);
      if (faults.length >= limit) break;
    }
    return faults;
  }

  *#schema(schema: JsonSchema, value: JsonValue, at: Place): Generator<SchemaFault> {
    if (--this.#left < 0 || at.depth > MAX_VALUE_DEPTH) {
      throw new RangeError("Cannot check the answer: the check takes too many steps, or goes too deep");
    }
    if (schema === true) return;
    if (schema === false) return yield fault("must not exist", at);
    if (typeof schema["$ref"] === "string") {
      yield* this.#schema(this.#checked.resolve(schema["$ref"]), value, deeper(at));
      if (this.#checked.refAlone) return;
    }
    yield* plain(schema, value, at);
    if (typeof value === "string") yield* this.#text(schema, value, at);
    if (isList(value)) yield* this.#list(schema, value, at);
    if (isJsonObject(value)) yield* this.#object(schema, value, at);
    yield* this.#combined(schema, value, at);
  }

  *#text(schema: Keywords, value: string, at: Place): Generator<SchemaFault> {
    const { minLength, maxLength, pattern, format } = schema;
    if (typeof minLength === "number" || typeof maxLength === "number") {
      const chars = codePoints(value);
      if (chars < num(minLength, 0)) {
        yield fault(`must have at least ${counted(num(minLength, 0), "character")}, has ${chars}`, at);
      }
      if (chars > num(maxLength, Infinity)) {
        yield fault(`must have at most ${counted(num(maxLength, 0), "character")}, has ${chars}`, at);
      }
    }
    if (typeof pattern === "string" && !this.#checked.matches(pattern, value)) {
      yield fault(`must match the pattern ${clip(pattern, 100)}, is ${shown(value)}`, at);
    }
    if (typeof format === "string" && !hasFormat(format, value)) {
      yield fault(`must have the format ${format}, is ${shown(value)}`, at);
    }
  }

  *#list(schema: Keywords, value: readonly JsonValue[], at: Place): Generator<SchemaFault> {
    const { minItems, maxItems, uniqueItems } = schema;
    if (value.length < num(minItems, 0)) {
      yield fault(`must have at least ${counted(num(minItems, 0), "item")}, has ${value.length}`, at);
    }
    if (value.length > num(maxItems, Infinity)) {
      yield fault(`must have at most ${counted(num(maxItems, 0), "item")}, has ${value.length}`, at);
    }
    if (uniqueItems === true && new Set(value.map(canonical)).size < value.length) {
      yield fault("must not have the same item twice", at);
    }
    yield* this.#items(schema, value, at);
    yield* this.#contains(schema, value, at);
  }

  *#items(schema: Keywords, value: readonly JsonValue[], at: Place): Generator<SchemaFault> {
    const { items, prefixItems, additionalItems } = schema;
    const first: readonly JsonSchema[] = schemas(prefixItems ?? (Array.isArray(items) ? items : []));
    const rest = Array.isArray(items) ? additionalItems : items;
    for (const [index, item] of value.entries()) {
      const schema = first[index] ?? (isSchema(rest) ? rest : true);
      if (schema === false) {
        yield fault(`must have at most ${counted(first.length, "item")}, has ${value.length}`, at);
        return;
      }
      yield* this.#schema(schema, item, below(at, index));
    }
  }

  *#contains(schema: Keywords, value: readonly JsonValue[], at: Place): Generator<SchemaFault> {
    const { contains, minContains, maxContains } = schema;
    if (!isSchema(contains)) return;
    const count = value.filter((item) => this.#fits(contains, item, at)).length;
    if (count < num(minContains, 1)) {
      yield fault(`must match contains in at least ${counted(num(minContains, 1), "item")}, does so in ${count}`, at);
    }
    if (count > num(maxContains, Infinity)) {
      yield fault(`must match contains in at most ${counted(num(maxContains, 0), "item")}, does so in ${count}`, at);
    }
  }

  *#object(schema: Keywords, value: { readonly [key: string]: JsonValue }, at: Place): Generator<SchemaFault> {
    const keys = Object.keys(value);
    const { minProperties, maxProperties, propertyNames } = schema;
    for (const name of names(schema["required"])) {
      if (!Object.hasOwn(value, name)) yield fault(`must have the property ${JSON.stringify(name)}`, at);
    }
    if (keys.length < num(minProperties, 0)) {
      yield fault(`must have at least ${counted(num(minProperties, 0), "property")}, has ${keys.length}`, at);
    }
    if (keys.length > num(maxProperties, Infinity)) {
      yield fault(`must have at most ${counted(num(maxProperties, 0), "property")}, has ${keys.length}`, at);
    }
    if (isSchema(propertyNames)) {
      for (const key of keys) {
        if (!this.#fits(propertyNames, key, at)) yield fault(`must not have the property name ${shown(key)}`, at);
      }
    }
    yield* this.#properties(schema, value, at);
    yield* this.#dependencies(schema, value, at);
  }

  *#properties(schema: Keywords, value: { readonly [key: string]: JsonValue }, at: Place): Generator<SchemaFault> {
    const properties = map(schema["properties"]);
    const patterns = Object.entries(map(schema["patternProperties"]));
    const { additionalProperties } = schema;
    const others = isSchema(additionalProperties) ? additionalProperties : true;
    for (const [key, item] of Object.entries(value)) {
      const place = below(at, key);
      const own = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (own !== undefined) yield* this.#schema(own, item, place);
      const fitting = patterns.filter(([pattern]) => this.#checked.matches(pattern, key));
      for (const [, one] of fitting) yield* this.#schema(one, item, place);
      if (own !== undefined || fitting.length > 0 || others === true) continue;
      if (others === false) yield fault(`must not have the property ${shown(key)}`, at);
      else yield* this.#schema(others, item, place);
    }
  }

  *#dependencies(schema: Keywords, value: { readonly [key: string]: JsonValue }, at: Place): Generator<SchemaFault> {
    const needed = { ...map(schema["dependentSchemas"]), ...objectOr(schema["dependencies"]) };
    for (const [key, needs] of [...Object.entries(objectOr(schema["dependentRequired"])), ...Object.entries(needed)]) {
      if (!Object.hasOwn(value, key)) continue;
      if (isSchema(needs)) yield* this.#schema(needs, value, deeper(at));
      for (const name of names(needs)) {
        if (!Object.hasOwn(value, name)) yield fault(`must have the property ${shown(name)} beside ${shown(key)}`, at);
      }
    }
  }

  *#combined(schema: Keywords, value: JsonValue, at: Place): Generator<SchemaFault> {
    for (const one of schemas(schema["allOf"])) yield* this.#schema(one, value, deeper(at));
    yield* this.#forms(schemas(schema["anyOf"]), value, at);
    yield* this.#forms(schemas(schema["oneOf"]), value, { ...at, one: true });
    const { not, if: condition } = schema;
    if (isSchema(not) && this.#fits(not, value, at)) yield fault("must not have the excluded form", at);
    if (isSchema(condition)) {
      const then = schema[this.#fits(condition, value, at) ? "then" : "else"];
      if (isSchema(then)) yield* this.#schema(then, value, deeper(at));
    }
  }

  /** Judges an alternative only once, so that the work does not double with each level of a value. */
  *#forms(
    forms: readonly JsonSchema[],
    value: JsonValue,
    at: Place & { readonly one?: boolean },
  ): Generator<SchemaFault> {
    const wrong: (readonly SchemaFault[])[] = [];
    for (const form of forms) {
      const faults = [...take(this.#schema(form, value, deeper(at)), NEAREST_FAULTS)];
      if (faults.length > 0) wrong.push(faults);
      else if (!at.one) return;
    }
    const fitting = forms.length - wrong.length;
    if (fitting > 1) yield fault(`must fit exactly one of ${forms.length} forms, fits ${fitting}`, at);
    if (fitting > 0 || forms.length === 0) return;
    const nearest = wrong.toSorted((a, b) => rank(b, at) - rank(a, at) || a.length - b.length)[0] ?? [];
    if (forms.length > 1 && !nearest[0]?.noForm) {
      yield {
        ...fault(`must fit one of ${forms.length} forms, and the next faults are of the nearest form`, at),
        noForm: true,
      };
    }
    yield* nearest;
  }

  #fits(schema: JsonSchema, value: JsonValue, at: Place): boolean {
    return this.#schema(schema, value, deeper(at)).next().done === true;
  }
}

/** Ranks a form by its shortest path to a fault; a longer path means a nearer form. */
function rank(faults: readonly SchemaFault[], at: Place): number {
  return Math.min(...faults.map(({ path }) => path.length - at.path.length));
}

function* plain(schema: Keywords, value: JsonValue, at: Place): Generator<SchemaFault> {
  const { type, enum: listed } = schema;
  const types = typeof type === "string" ? [type] : names(type);
  if (types.length > 0 && !types.some((name) => isOfType(value, name))) {
    yield fault(`must be ${types.join(" or ")}, is ${shown(value)}`, at);
  }
  if (Array.isArray(listed) && !listed.some((one) => same(one, value))) {
    yield fault(
      `must be one of ${clip(listed.map((one) => JSON.stringify(one)).join(", "), 200)}, is ${shown(value)}`,
      at,
    );
  }
  if (Object.hasOwn(schema, "const") && !same(schema["const"], value)) {
    yield fault(`must be ${clip(JSON.stringify(schema["const"]), 200)}, is ${shown(value)}`, at);
  }
  if (typeof value === "number") yield* number(schema, value, at);
}

function* number(schema: Keywords, value: number, at: Place): Generator<SchemaFault> {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (value < num(minimum, -Infinity)) yield fault(`must be at least ${minimum}, is ${value}`, at);
  if (value > num(maximum, Infinity)) yield fault(`must be at most ${maximum}, is ${value}`, at);
  if (value <= num(exclusiveMinimum, -Infinity)) yield fault(`must be above ${exclusiveMinimum}, is ${value}`, at);
  if (value >= num(exclusiveMaximum, Infinity)) yield fault(`must be below ${exclusiveMaximum}, is ${value}`, at);
  if (typeof multipleOf === "number" && !isMultiple(value, multipleOf)) {
    yield fault(`must be a multiple of ${multipleOf}, is ${value}`, at);
  }
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let taken = 0;
  for (const item of items) {
    yield item;
    if (++taken >= count) return;
  }
}

function fault(message: string, { path }: Place): SchemaFault {
  return { path, message };
}

function below({ path, depth }: Place, key: string | number): Place {
  const name = String(key).replaceAll("~", "~0").replaceAll("/", "~1");
  return { path: `${path}/${clip(name, 100)}`, depth: depth + 1 };
}

function deeper({ path, depth }: Place): Place {
  return { path, depth: depth + 1 };
}

/** The rounding error of one division does not count: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  if (!Number.isFinite(times)) return value % of === 0;
  return Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.max(1, Math.abs(times));
}

function isOfType(value: JsonValue, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return isList(value);
  if (type === "object") return isJsonObject(value);
  if (type === "boolean") return typeof value === "boolean";
  return type === "number" ? typeof value === "number" : typeof value === "string";
}

function same(one: unknown, other: JsonValue): boolean {
  return canonical(one) === canonical(other);
}

function canonical(value: unknown): string {
  if (isList(value)) return `[${value.map(canonical).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? "";
  const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function shown(value: JsonValue): string {
  if (isList(value)) return `a list of ${value.length}`;
  if (isJsonObject(value)) return `an object with ${counted(Object.keys(value).length, "property")}`;
  return clip(JSON.stringify(value), 80);
}

function num(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise;
}

function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "boolean" || isJsonObject(value);
}

function schemas(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

function map(value: unknown): Readonly<Record<string, JsonSchema>> {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, one]) => isSchema(one))) as Record<string, JsonSchema>
    : {};
}

function objectOr(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}

function partsOf(value: JsonValue): number {
  if (isList(value)) return value.reduce((sum: number, item) => sum + partsOf(item), 1);
  if (isJsonObject(value)) return Object.values(value).reduce((sum: number, item) => sum + partsOf(item), 1);
  return 1;
}

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d+)?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const MAX_TESTED_CHARS = 4_096;

/** A text fits an unknown format. A text of more than `MAX_TESTED_CHARS` fits no known format. */
function hasFormat(format: string, text: string): boolean {
  const test = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return test === undefined || text.length <= MAX_TESTED_CHARS && test(text);
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: (text) => TIME.test(text),
  "date-time": (text) => /^.{10}[t ]/i.test(text) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11)),
  email: isEmail,
  hostname: isHost,
  ipv4: (text) => IPV4.test(text),
  ipv6: (text) => text.includes(":") && /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`),
  uri: (text) => /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]*$/i.test(text) && URL.canParse(text),
  uuid: (text) => UUID.test(text),
};

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (year === undefined) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.getUTCMonth() + 1 === Number(month) && date.getUTCDate() === Number(day);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const name = text.slice(0, at);
  if (at < 1 || at > 64 || name.startsWith(".") || name.endsWith(".") || name.includes("..")) return false;
  return /^[\w.!#$%&'*+/=?^`{|}~-]+$/.test(name) && isHost(text.slice(at + 1));
}

function isHost(text: string): boolean {
  return text.length <= 253 && text.split(".").every((part) => NAME.test(part));
}

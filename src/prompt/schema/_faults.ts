import type { JsonValue } from "../../domain/kit/json.ts";
import { clip } from "../../domain/kit/text.ts";
import { type CheckedSchema, isJsonObject, type JsonSchema } from "./_check.ts";

/** One violation of a schema by a value. */
export interface SchemaFault {
  /** JSON pointer into the value; "" for the whole value. */
  readonly path: string;
  readonly message: string;
  /** No alternative fits: the faults that follow are those of the nearest one. */
  readonly noForm?: boolean;
}

type Keywords = Readonly<Record<string, unknown>>;
interface Place {
  readonly path: string;
  readonly depth: number;
}

/** For any value; each part of it adds `STEPS_FOR_A_PART`. */
const MAX_STEPS = 2_000_000;
const STEPS_FOR_A_PART = 50;
const NEAREST_FAULTS = 5;
const MAX_DEPTH = 1_500;

/** Checks values against one checked schema. Its work is bounded: beyond the bound, `judge` throws RangeError. */
export class SchemaJudge {
  readonly #checked: CheckedSchema;
  #left = 0;

  constructor(checked: CheckedSchema) {
    this.#checked = checked;
  }

  /** At most `limit` faults, those of the outer parts first. */
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
    if (--this.#left < 0 || at.depth > MAX_DEPTH) {
      throw new RangeError("Cannot judge the answer: its schema refers to itself without end, or is too much work");
    }
    if (schema === true) return;
    if (schema === false) return yield fault("must not be there", at);
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
      if (chars < num(minLength, 0)) yield fault(`must have at least ${minLength} characters, has ${chars}`, at);
      if (chars > num(maxLength, Infinity)) yield fault(`must have at most ${maxLength} characters, has ${chars}`, at);
    }
    if (typeof pattern === "string" && !this.#checked.matches(pattern, value)) {
      yield fault(`must match the pattern ${clip(pattern, 100)}, is ${shown(value)}`, at);
    }
    if (typeof format === "string" && !hasFormat(format, value)) {
      yield fault(`must be a ${format}, is ${shown(value)}`, at);
    }
  }

  *#list(schema: Keywords, value: readonly JsonValue[], at: Place): Generator<SchemaFault> {
    const { minItems, maxItems, uniqueItems } = schema;
    if (value.length < num(minItems, 0)) yield fault(`must have at least ${minItems} items, has ${value.length}`, at);
    if (value.length > num(maxItems, Infinity)) {
      yield fault(`must have at most ${maxItems} items, has ${value.length}`, at);
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
        yield fault(`must have at most ${first.length} items, has ${value.length}`, at);
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
      yield fault(`must contain ${num(minContains, 1)} items of a kind, has ${count}`, at);
    }
    if (count > num(maxContains, Infinity)) {
      yield fault(`must contain at most ${maxContains} of a kind, has ${count}`, at);
    }
  }

  *#object(schema: Keywords, value: { readonly [key: string]: JsonValue }, at: Place): Generator<SchemaFault> {
    const keys = Object.keys(value);
    const { minProperties, maxProperties, propertyNames } = schema;
    for (const name of names(schema["required"])) {
      if (!Object.hasOwn(value, name)) yield fault(`must have the property ${JSON.stringify(name)}`, at);
    }
    if (keys.length < num(minProperties, 0)) yield fault(`must have at least ${minProperties} properties`, at);
    if (keys.length > num(maxProperties, Infinity)) yield fault(`must have at most ${maxProperties} properties`, at);
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
    if (isSchema(not) && this.#fits(not, value, at)) yield fault("must not have the form that is ruled out", at);
    if (isSchema(condition)) {
      const then = schema[this.#fits(condition, value, at) ? "then" : "else"];
      if (isSchema(then)) yield* this.#schema(then, value, deeper(at));
    }
  }

  /** If no alternative fits: that fact, and the faults of the nearest alternative. Each alternative is judged once, so
   * that work does not double with every level of a value. */
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
    // With nested alternatives, the innermost one reports the location.
    if (forms.length > 1 && !nearest[0]?.noForm) {
      yield { ...fault(`must fit one of ${forms.length} forms, the nearest says:`, at), noForm: true };
    }
    yield* nearest;
  }

  #fits(schema: JsonSchema, value: JsonValue, at: Place): boolean {
    return this.#schema(schema, value, deeper(at)).next().done === true;
  }
}

/** A branch whose faults are deeper in the value is nearer than one that fails at once. */
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

/** Within the rounding error of one division: 0.3 is a multiple of 0.1. */
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

/** Equal values have equal texts: the order of properties does not matter. */
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

/** A value as shown in a fault; always short. */
function shown(value: JsonValue): string {
  if (isList(value)) return `a list of ${value.length}`;
  if (isJsonObject(value)) return `an object with ${Object.keys(value).length} properties`;
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

/** The number of values in a value, including itself. */
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
const MAX_CHARS = 4_096;

/** Whether a text has a `format`. Unknown formats accept everything, as the specification requires. */
function hasFormat(format: string, text: string): boolean {
  const test = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  return test === undefined || text.length <= MAX_CHARS && test(text);
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

/** Any value that JSON can express. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

const MAX_DEPTH = 500;

/** Converts a value from the codec to JSON data: a Map to an object, a Set to a list, a Date to ISO text. Undefined
 * fields are left out, undefined items become null. Throws TypeError with the path of a value that JSON cannot express. */
export function jsonValue(value: unknown): JsonValue {
  return convert(value, { path: "", depth: 0 });
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

function convert(value: unknown, at: Place): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "bigint" && Number.isSafeInteger(Number(value))) return Number(value);
  if (typeof value !== "object") throw refused(String(value), at.path);
  if (at.depth >= MAX_DEPTH) throw refused("a value that is nested too deep, or that contains itself,", at.path);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? refuse("Invalid Date", at) : value.toISOString();
  if (value instanceof URL || value instanceof RegExp) return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof ArrayBuffer || value instanceof DataView) return refuse("binary data", at);
  if (Array.isArray(value) || value instanceof Set || ArrayBuffer.isView(value)) {
    return Array.from(value as Iterable<unknown>, (item, index) => item === undefined ? null : below(item, at, index));
  }
  const entries = value instanceof Map ? [...value].map(([key, item]) => [keyOf(key, at), item] as const) : own(value);
  const kept = entries.filter(([, item]) => item !== undefined);
  return Object.fromEntries(kept.map(([key, item]) => [key, below(item, at, key)]));
}

/** Own data properties, read without running getters. */
function own(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(Object.getOwnPropertyDescriptors(value))
    .filter(([, { enumerable }]) => enumerable)
    .map(([key, descriptor]) => [key, descriptor.value] as const);
}

function below(value: unknown, { path, depth }: Place, key: string | number): JsonValue {
  return convert(value, { path: `${path}/${key}`, depth: depth + 1 });
}

function keyOf(key: unknown, at: Place): string {
  if (typeof key === "object" && key !== null) throw refused("a Map whose keys are objects", at.path);
  return String(key);
}

function refuse(what: string, { path }: Place): never {
  throw refused(what, path);
}

function refused(what: string, path: string): TypeError {
  return new TypeError(`Cannot write ${what} as JSON${path === "" ? "" : `: it stands at ${path.slice(0, 200)}`}`);
}

/** `rawJSON` makes a message carry the numbers of a text unchanged. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

const MAX_DEPTH = 500;
const TOO_DEEP = `args has more than ${MAX_DEPTH} levels, or contains itself`;

export function exactText(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) => typeof one === "bigint" ? rawJSON(String(one)) : one);
}

export function jsonArguments(args: unknown): Readonly<Record<string, unknown>> {
  return asJson(args, { path: "args", depth: 0 }) as Readonly<Record<string, unknown>>;
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

function asJson(value: unknown, at: Place): unknown {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : refuse(String(value), at);
  if (typeof value === "bigint") return rawJSON(String(value));
  if (typeof value !== "object") return refuse(typeof value === "undefined" ? "undefined" : `a ${typeof value}`, at);
  if (at.depth >= MAX_DEPTH) throw new TypeError(TOO_DEEP);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? refuse("an invalid Date", at) : value.toISOString();
  if (value instanceof URL) return value.href;
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return refuse("bytes (pass text, such as base64)", at);
  if (value instanceof RegExp || value instanceof Error) return refuse(`a ${value.constructor.name}`, at);
  if (Array.isArray(value) || value instanceof Set) {
    return Array.from(value, (item, index) => asJson(item, below(at, index)));
  }
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  const kept = entries.filter(([, item]) => item !== undefined);
  return Object.fromEntries(kept.map(([key, item]) => {
    if (typeof key !== "string") return refuse(`a Map whose keys are not text`, at);
    return [key, asJson(item, below(at, key))];
  }));
}

function below({ path, depth }: Place, key: string | number): Place {
  const step = typeof key === "string" && /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
  return { path: `${path}${step}`, depth: depth + 1 };
}

function refuse(what: string, { path }: Place): never {
  throw new TypeError(`${path.slice(0, 200)} is ${what}, which JSON cannot represent`);
}

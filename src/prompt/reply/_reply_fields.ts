import { readable } from "../../domain/text/readable.ts";

/** The fields of an object, with names normalised: no case, blanks, `_` or `-`. */
export interface ReplyFields {
  readonly entries: ReadonlyMap<string, unknown>;
  /** Descriptions of the repairs, for names that were written differently. */
  readonly renamed: readonly string[];
  readonly has: (names: readonly string[]) => boolean;
}

const EXACT = new Set([
  "thinking",
  "code",
  "next",
  "final",
  "expr",
  "timeMs",
  "model",
  "reasoning",
  "answer",
  "answerType",
  "confidence",
]);
const LOWER = new Map([...EXACT].map((name) => [name.toLowerCase(), name]));
const MAX_KEYS = 200;

export function fieldsOf(value: unknown): ReplyFields {
  const entries = new Map<string, unknown>();
  const renamed: string[] = [];
  const own = typeof value === "object" && value !== null ? Object.keys(value).slice(0, MAX_KEYS) : [];
  for (const key of own) {
    const name = key.toLowerCase().replace(/[^a-z]/g, "");
    if (entries.has(name)) continue;
    entries.set(name, Object.getOwnPropertyDescriptor(value, key)?.value);
    const exact = LOWER.get(name);
    if (exact !== undefined && !EXACT.has(key)) renamed.push(`read "${key.slice(0, 40)}" as ${exact}`);
  }
  return { entries, renamed, has: (names) => names.some((name) => entries.has(name)) };
}

/** The first of the names with a value; null and undefined do not count. */
export function pick(fields: ReplyFields, names: readonly string[]): unknown {
  for (const name of names) {
    const value = fields.entries.get(name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** Text of any JSON value; lists of texts are joined. Never throws, however deep the value is. */
export function plainText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join("\n");
  try {
    const text = readable(value);
    return text.startsWith("[object ") ? "" : text;
  } catch {
    return "";
  }
}

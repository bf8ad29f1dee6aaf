/** A value as text for a person: strings unchanged, data as indented JSON, anything else by its closest name. Never
 * throws for a value from the codec. */
export function readable(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const shown = printable(value);
  if (typeof shown === "string") return shown;
  return JSON.stringify(value, replacer(), 2) ?? Object.prototype.toString.call(value);
}

interface Ancestor {
  readonly value: unknown;
  /** What replaces it in the text. */
  readonly shown: unknown;
}

/** Replaces circular references and values that JSON cannot express. */
function replacer(): (this: unknown, key: string, value: unknown) => unknown {
  const ancestors: Ancestor[] = [];
  return function (this: unknown, key: string): unknown {
    while (ancestors.length > 0 && ancestors.at(-1)?.shown !== this) ancestors.pop();
    // The value before `toJSON` was called.
    const value: unknown = Object.getOwnPropertyDescriptor(this, key)?.value;
    if (ancestors.some((one) => one.value === value)) return "[circular]";
    const shown = printable(value);
    if (typeof shown === "object" && shown !== null) ancestors.push({ value, shown });
    return shown;
  };
}

function printable(value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof RegExp || value instanceof URL) return String(value);
  if (value instanceof Map) return Object.fromEntries([...value].map(([k, v]) => [keyOf(k), v]));
  if (value instanceof Set) return [...value];
  if (value instanceof ArrayBuffer || value instanceof DataView) return `${value.byteLength} bytes`;
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>);
  return value;
}

function keyOf(key: unknown): string {
  return typeof key === "object" && key !== null ? readable(key) : String(key);
}

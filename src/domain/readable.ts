/** A value as text for a person: a string as it is, data as indented JSON, anything else by its nearest name. */
export function readable(value: unknown): string {
  if (typeof value === "string") return value;
  try {
    const text = JSON.stringify(value, replaceUnprintable, 2);
    if (text !== undefined) return text;
  } catch {
    // Cyclic: JSON has no text for it.
  }
  return String(value);
}

function replaceUnprintable(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (value instanceof Map) return Object.fromEntries([...value].map(([k, v]) => [String(k), v]));
  if (value instanceof Set) return [...value];
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  return value;
}

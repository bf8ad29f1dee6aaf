/** JSON of the database: lone surrogates and NUL stand in it as escapes, so every text in it survives exactly. */
export function toJson(value: Readonly<Record<string, unknown>> | readonly unknown[]): string {
  return JSON.stringify(value);
}

/** The object in a metadata cell. This folder is the only writer, so `T` is what it wrote; a field that an older version
 * did not write is missing, hence Partial. */
export function fromJson<T extends object>(cell: string | null): Partial<T> {
  return cell === null ? {} : JSON.parse(cell) as Partial<T>;
}

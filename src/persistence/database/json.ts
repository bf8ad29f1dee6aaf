/** JSON for the database: lone surrogates and NUL are escaped, so every text in it is preserved exactly. */
export function toJson(value: Readonly<Record<string, unknown>> | readonly unknown[]): string {
  return JSON.stringify(value);
}

/** The object in a metadata cell. This folder is the only writer, so `T` is what it wrote. A field that an older
 * version did not write is missing, hence Partial. */
export function fromJson<T extends object>(cell: string | null): Partial<T> {
  return cell === null ? {} : JSON.parse(cell) as Partial<T>;
}

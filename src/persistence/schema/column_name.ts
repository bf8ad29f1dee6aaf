/** Prefix of the columns that `intact` makes. They are not part of a row. */
const INTACT = "intact";

/** There are as many as the schema and the queries have. */
const NAMES = new Map<string, string>();

/** Converts the name of a column in the database to camel case; null for a column that is not part of a row. */
export function columnName(name: string): string | null {
  if (name.startsWith(INTACT)) return null;
  let found = NAMES.get(name);
  if (found === undefined) {
    found = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    NAMES.set(name, found);
  }
  return found;
}

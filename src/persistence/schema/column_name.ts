/** There are as many as the schema and the queries have. */
const NAMES = new Map<string, string>();

/** Converts the name of a column in the database to camel case. */
export function columnName(name: string): string {
  let found = NAMES.get(name);
  if (found === undefined) {
    found = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    NAMES.set(name, found);
  }
  return found;
}

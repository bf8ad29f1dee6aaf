/** There are as many as the schema has. */
const NAMES = new Map<string, string>();

/** Converts the camel-case name of a table or column to its name in the database. */
export function snakeCase(name: string): string {
  let found = NAMES.get(name);
  if (found === undefined) {
    found = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    NAMES.set(name, found);
  }
  return found;
}

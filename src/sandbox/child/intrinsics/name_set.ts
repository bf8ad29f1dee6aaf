/** A set of names that code of a block cannot change: `set[name] === true`. */
export function nameSet(names: readonly string[]): Readonly<Record<string, true>> {
  return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(names.map((name) => [name, true]))));
}

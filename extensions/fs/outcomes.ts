/** For people who watch: how many there are. */
export function counted(one: string, many: string): (found: readonly unknown[]) => string {
  return ({ length }) => `${length} ${length === 1 ? one : many}`;
}

/** For people who watch: which files a change touched. */
export function pathsOf(changed: readonly { readonly path: string }[]): string {
  return changed.map(({ path }) => path).join(", ");
}

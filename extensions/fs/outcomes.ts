/** For people who watch: how many there are. */
export function counted(one: string, many: string): (found: readonly unknown[]) => string {
  return ({ length }) => `${length} ${length === 1 ? one : many}`;
}

/** For people who watch: which files a change touched. */
export function pathsOf(changed: readonly { readonly path: string }[]): string {
  return changed.map(({ path }) => path).join(", ");
}

/** For people who watch: which files an undo restored, and which it kept. */
export function undoneOf(files: readonly { readonly path: string; readonly kept?: string }[]): string {
  const kept = files.filter((one) => one.kept !== undefined);
  const restored = pathsOf(files.filter((one) => one.kept === undefined));
  return kept.length === 0 ? restored : `${restored} · kept ${pathsOf(kept)}`;
}

/** From here on everything that can be looked at is shown already. */
const WHOLE = 1_000;

/** What stands below lines that are not all of it; `count` is null where nobody counted. */
export function moreLines(count: number | null, { most }: { readonly most: number }): string {
  const rest = count === null || count === 0 ? "more" : `${count} more ${count === 1 ? "line" : "lines"}`;
  return `… ${rest}${most < WHOLE ? " (Ctrl-O)" : ""}`;
}

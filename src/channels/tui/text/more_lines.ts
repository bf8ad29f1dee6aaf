/** From this limit on, everything that can be viewed is already shown. */
const WHOLE = 1_000;

/** The note below shortened content; `count` is null if the lines were not counted. */
export function moreLines(count: number | null, { most }: { readonly most: number }): string {
  const rest = count === null || count === 0 ? "more" : `${count} more ${count === 1 ? "line" : "lines"}`;
  return `… ${rest}${most < WHOLE ? " (Ctrl-O)" : ""}`;
}

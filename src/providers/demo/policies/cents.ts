/** The comment that identifies the function in the index. */
export const DOC = "Formats cents as euros";

export function centsIn(request: string): number {
  return Number(/(\d[\d_]*)\s*cents/.exec(request)?.[1]?.replaceAll("_", "") ?? 0);
}

/** There is nothing of that name. */
export const MISSING = -1;

/** The values that a template may show, in the context of the blocks. A number stands for each of them, since only
 * primitive values cross between the contexts. */
export interface TemplateValues {
  /** JSON list of the variables. */
  names(): string;
  variable(name: string): number;
  /** An own data property or a length of a value; nothing is inherited or run. */
  member(of: number, key: string): number;
  kind(of: number): "undefined" | "null" | "function" | "promise" | "other";
  text(of: number, chars: number): string;
  /** What can be asked of a value. */
  holds(of: number): string;
  /** Adds what a section iterates over: nothing for an empty or false value, the items of a list, else the value. */
  addItems(of: number, max: number): void;
  /** The number that the next value gets. */
  next(): number;
  /** Forgets the values from a number on. */
  forget(from: number): void;
}

/** `a.b.c` as a list of names; null for other tags (`x | upper`, `.Values.x`, `if a`). */
export function pathOf(tag: string): string[] | null {
  return /^[\p{ID_Start}$_][\p{ID_Continue}$]*(\.[\p{ID_Continue}$]+)*$/u.test(tag) ? tag.split(".") : null;
}

/** The value at `a.b.length` within a value, or MISSING. */
export function follow(values: TemplateValues, { from, path }: { from: number; path: readonly string[] }): number {
  let at = from;
  for (const key of path) if (at !== MISSING) at = values.member(at, key);
  return at;
}

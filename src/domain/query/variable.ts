export type VariableKind = "data" | "function" | "class" | "instance" | "pending" | "lost";

export interface VariableSummary {
  readonly declaration: string;
  readonly type: string;
  readonly size: number | null;
  /** The shape has at most 200 characters, such as "Array(7) of {path,line,text}", "string(4096)" or "parse(line)". */
  readonly shape: string;
  /** `inline` is the whole value as source-like text of at most 120 characters, or null. */
  readonly inline: string | null;
  /** `doc` is the first line of the comment before the declaration, at most 80 characters; "" without one. */
  readonly doc: string;
}

export interface VariableImage {
  readonly name: string;
  readonly kind: VariableKind;
  /** The bytes encode data, an instance, or the static fields of a function or class. Other kinds have no bytes. Images
   * with equal bytes share one table of values. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** `root` is the key of the value in the table; null if the whole table is the value. For a function or class, `root`
   * is the variable with the same value. */
  readonly root: string | null;
  /** `source` evaluates to a function, class or namespace. It is the class name of an instance, and the defining
   * statement of a lost value. */
  readonly source: string;
  /** These names must exist before Vis evaluates `source` or sets the prototype. */
  readonly requires: readonly string[];
  /** `reason` is the cause of a lost value, or names the parts that `bytes` lacks; "" without a reason. */
  readonly reason: string;
  readonly summary: VariableSummary;
  /** The store has this name for a text that is too large to pass around; `bytes` is then empty. */
  readonly large?: string;
  readonly files?: Readonly<Record<string, string>>;
}

export const SYSTEM_VARIABLES = ["$query", "$reasoning", "$answer", "$schema", "$messages"] as const;

/** A block defined or changed `name` from `reads`. */
export interface Dependency {
  readonly name: string;
  readonly reads: string;
}

export function declaringLine(code: string, name: string): string {
  const lines = code.trim().split("\n");
  const named = lines.map((line) => line.match(NAMES)?.includes(name) ?? false);
  const declared = lines.findIndex((line, at) => named[at] && KEYWORD.test(line));
  const at = declared >= 0 ? declared : lines.findIndex((line, at) => named[at] && ASSIGNED.test(line));
  return at < 0 ? "" : lines.slice(at).join("\n");
}

const KEYWORD = /\b(?:const|let|var|function|class|enum|namespace)\b/;
const ASSIGNED = /[^=!<>]=(?![=>])/;
const NAMES = /[\p{ID_Start}$_][\p{ID_Continue}$]*/gu;

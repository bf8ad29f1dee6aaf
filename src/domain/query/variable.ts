export type VariableKind = "data" | "function" | "class" | "instance" | "pending" | "lost";

/** Facts about a value on one line of bounded length; the sandbox process computes the facts for the index. */
export interface VariableSummary {
  readonly declaration: string;
  readonly type: string;
  readonly size: number | null;
  /** Text such as "Array(7) of {path,line,text}", "string(4096)" or "parse(line)", at most 200 characters. */
  readonly shape: string;
  /** The whole value as source-like text if it has at most 120 characters, otherwise null. */
  readonly inline: string | null;
  /** The first line of the comment before the declaration, at most 80 characters; "" if it has none. */
  readonly doc: string;
}

export interface VariableImage {
  readonly name: string;
  readonly kind: VariableKind;
  /** The codec bytes of data, of an instance, or of the static fields of a function or class; otherwise empty. Data
   * images with equal bytes share one table of values. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The key of the value in the table; null if the whole table is the value. For a function or class, the variable
   * with the same value. */
  readonly root: string | null;
  /** Text that evaluates to a function, class or namespace. The text is the class name of an instance, and the defining
   * statement of a lost value. */
  readonly source: string;
  /** Names that must exist before `source` is evaluated or the prototype is set. */
  readonly requires: readonly string[];
  /** Why a value is lost, or the parts that are missing in `bytes`, such as "getter rows.total"; otherwise "". */
  readonly reason: string;
  readonly summary: VariableSummary;
  /** The store's name for the UTF-8 bytes of a text that is too large to pass around. `bytes` is then empty. */
  readonly large?: string;
  /** The files with the text of this value: their paths in the workspace, each with its state when it was read. */
  readonly files?: Readonly<Record<string, string>>;
}

export const SYSTEM_VARIABLES = ["$query", "$reasoning", "$answer", "$schema"] as const;

/** A variable and another variable that its defining blocks have read. */
export interface Dependency {
  readonly name: string;
  readonly reads: string;
}

/** Returns the code from the line that declares or assigns `name`, or "". */
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

/** How a value is kept: contracts.md, "A variable's version". */
export type VariableKind = "data" | "function" | "class" | "instance" | "pending" | "lost";

/** One line of facts about a value, made in the child, bounded, shown in the index. */
export interface VariableSummary {
  /** The declaration word the model used: "const", "let", "var", "function", "class", "enum", "namespace". */
  readonly declaration: string;
  /** As in `BlockResult.type`. */
  readonly type: string;
  readonly size: number | null;
  /** "Array(7) of {path,line,text}", "string(4096)", "parse(line)". Never longer than 200 characters. */
  readonly shape: string;
  /** The whole value as source-like text where it has at most 120 characters, else null. */
  readonly inline: string | null;
  /** First line of the comment before the declaration, at most 80 characters, "" where there is none. */
  readonly doc: string;
}

/** A variable as it leaves the sandbox, to be stored, and as it comes back on restore. */
export interface VariableImage {
  readonly name: string;
  readonly kind: VariableKind;
  /** Codec bytes for data and instance, and of the own data of a function or class that has some (static fields);
   * else empty. Equal bytes of two images of data mean one shared table. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The key under which the value stands in the table; null where the table's root is the value itself. */
  readonly root: string | null;
  /** Text that evaluates to a function, class or namespace; the class name for an instance; the defining statement for lost ones. */
  readonly source: string;
  /** Names that must exist before `source` is evaluated (or the prototype is set). */
  readonly requires: readonly string[];
  /** Why a value is lost, else "". */
  readonly reason: string;
  readonly summary: VariableSummary;
  /** Where a text is too large to be handed around: the store's name of its UTF-8 bytes, and `bytes` is empty. */
  readonly large?: string;
}

export const SYSTEM_VARIABLES = ["$query", "$reasoning", "$answer", "$schema"] as const;

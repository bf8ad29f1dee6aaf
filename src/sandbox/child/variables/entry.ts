import type { VariableKind } from "../../../domain/query/variable.ts";

/** Variables that may share objects: sharing was found, or could not be excluded. */
export interface Group {
  readonly members: string[];
  /** True if the search reached its limit: sharing is assumed, not found. */
  readonly coarse: boolean;
}

/** What is known about a variable besides its value. */
export interface VariableRecord {
  readonly name: string;
  /** The keyword with which it was declared. */
  declaration: string;
  doc: string;
  /** The statement that defined it, shortened. */
  statement: string;
  /** Source of the function or class that the statement contains, else "". */
  source: string;
  /** Names that its function, class or initial value refers to. */
  requires: readonly string[];
  kind: VariableKind;
  /** Classes of the instances in its value: their methods can be called through it. */
  classes: readonly string[];
  /** Hash of what was saved last; "" if nothing was. */
  hash: string;
  /** Hash of the shared table that was saved last; "" if the variable was saved alone. */
  tableHash: string;
  /** Whether that table was made for a coarse group. */
  tableAssumed: boolean;
  /** The variable whose function or class this one was saved as; "" for its own. */
  alias: string;
  /** What the saved bytes do not keep; "" for nothing. */
  losses: string;
  /** The primitive value saved last: if it is unchanged, nothing else needs checking. */
  primitive: unknown;
  size: number;
  group: Group | null;
}

export function newEntry(name: string): VariableRecord {
  return {
    name,
    declaration: "let",
    doc: "",
    statement: "",
    source: "",
    requires: [],
    kind: "data",
    classes: [],
    hash: "",
    tableHash: "",
    tableAssumed: false,
    alias: "",
    losses: "",
    primitive: UNSAVED,
    size: 0,
    group: null,
  };
}

/** Not equal to any value. */
export const UNSAVED: unique symbol = Symbol("unsaved");

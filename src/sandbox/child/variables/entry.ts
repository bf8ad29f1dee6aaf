import type { VariableKind } from "../../../domain/query/variable.ts";

/** Variables that may share objects: found by walking them, or not known to be apart. */
export interface Group {
  readonly members: string[];
  /** True where the walk came to its limit: sharing is assumed, not found. */
  readonly coarse: boolean;
}

/** What is known about a variable besides its value. */
export interface VariableRecord {
  readonly name: string;
  /** The word it was declared with. */
  declaration: string;
  doc: string;
  /** The statement that made it, shortened. */
  statement: string;
  /** Text of the function or class that the statement wrote down for it, else "". */
  source: string;
  /** Names that its function, class or initial value refers to. */
  requires: readonly string[];
  kind: VariableKind;
  /** Classes of the instances in its value: their methods can be called through it. */
  classes: readonly string[];
  /** Of what was saved last; "" when nothing was. */
  hash: string;
  /** Of the table shared with others that was saved last; "" when it was saved alone. */
  tableHash: string;
  /** The value saved last where it is no object: the same again needs no look. */
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
    primitive: UNSAVED,
    size: 0,
    group: null,
  };
}

/** No value is this one. */
export const UNSAVED: unique symbol = Symbol("unsaved");

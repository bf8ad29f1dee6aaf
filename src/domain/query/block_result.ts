/** How a block ended. `none`: it ran, and its last statement has no value. */
export type BlockOutcome =
  | "value"
  | "none"
  | "error"
  | "refused"
  | "timeout"
  | "killed"
  | "memory"
  | "cancelled";

/** An error of a block. Positions refer to the text that the model wrote (1-based, null if unknown). */
export interface BlockError {
  readonly name: string;
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
  /** The line of the block with a caret under the column; "" if the position is unknown. */
  readonly excerpt: string;
  /** Only frames inside the block. */
  readonly stack: string;
}

export interface BlockCall {
  readonly name: string;
  readonly ms: number;
  readonly ok: boolean;
}

/** The outcome of one block. Always the same shape; how it ended is a field. */
export interface BlockResult {
  readonly ok: boolean;
  readonly outcome: BlockOutcome;
  /** Bounded text of the value; "" if there is none. */
  readonly preview: string;
  /** "string", "Array", "function", a class name …; "" if there is no value. */
  readonly type: string;
  /** Characters of a string, items of a collection, keys of an object, bytes of a buffer. */
  readonly size: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Characters of output that were counted but not kept. */
  readonly dropped: number;
  readonly error: BlockError | null;
  readonly defined: readonly string[];
  /** Variables whose bytes changed although they were not defined again. */
  readonly touched: readonly string[];
  /** Variables that hold a promise that has not settled. */
  readonly pending: readonly string[];
  /** Variables that became unavailable when this block ended (a killed child, a value that cannot be kept). */
  readonly lost: readonly string[];
  readonly ms: number;
  readonly timedOut: boolean;
  /** What was repaired in the text before it ran, or null. */
  readonly repaired: string | null;
  readonly calls: readonly BlockCall[];
}

const BASE: BlockResult = {
  ok: false,
  outcome: "none",
  preview: "",
  type: "",
  size: null,
  stdout: "",
  stderr: "",
  dropped: 0,
  error: null,
  defined: [],
  touched: [],
  pending: [],
  lost: [],
  ms: 0,
  timedOut: false,
  repaired: null,
  calls: [],
};

/** A result with every field present; `fields` override the empty defaults. */
export function blockResult(fields: Partial<BlockResult>): BlockResult {
  return { ...BASE, ...fields };
}

/** A failed result with a name and a message, for outcomes that the main process creates. */
export function failedBlock(
  outcome: Exclude<BlockOutcome, "value" | "none">,
  error: { readonly name: string; readonly message: string },
  fields: Partial<BlockResult> = {},
): BlockResult {
  const { name, message } = error;
  return blockResult({
    outcome,
    timedOut: outcome === "timeout",
    error: { name, message, line: null, column: null, excerpt: "", stack: "" },
    ...fields,
  });
}

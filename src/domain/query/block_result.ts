import type { BlockOutcome, BlockResult } from "./query_schemas.ts";

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

/** A block of an iteration that another child ran. */
export interface FormerResult {
  /** Codec bytes of the value; null if there was none or it could not be stored. */
  readonly value: Uint8Array<ArrayBuffer> | null;
  /** What the value was, if it could not be stored; else "". */
  readonly held: string;
  readonly printed: string;
}

/** What `results` and `printed` hold in a child that replaces another one. */
export interface FormerResults {
  /** Rows of the last iteration, by index. */
  readonly shown: readonly FormerResult[];
  /** Rows of the running iteration, by index. */
  readonly running: readonly FormerResult[];
  /** The running iteration; -1 between two. */
  readonly iteration: number;
}

import type { z } from "zod";
import type { Frozen } from "../reports/frozen.ts";
import type { BlockResultSchema } from "./query_schemas.ts";

/** The outcome of one block. Always the same shape; how it ended is a field. */
export type BlockResult = Frozen<z.infer<typeof BlockResultSchema>>;
export type BlockOutcome = BlockResult["outcome"];
export type BlockError = NonNullable<BlockResult["error"]>;
export type BlockCall = BlockResult["calls"][number];

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

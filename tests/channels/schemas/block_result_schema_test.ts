import assert from "node:assert/strict";
import type { z } from "zod";
import { BlockResultSchema } from "../../../src/channels/schemas/block_result_schema.ts";
import { type BlockResult, blockResult, failedBlock } from "../../../src/domain/query/block_result.ts";

/** Does not compile where an outcome is not described, or is none. */
const OUTCOMES:
  & Readonly<Record<BlockResult["outcome"], true>>
  & Readonly<Record<z.infer<typeof BlockResultSchema>["outcome"], true>> = {
    ...{ value: true, none: true, error: true, refused: true, timeout: true },
    ...{ killed: true, memory: true, cancelled: true },
  };

Deno.test("BlockResultSchema describes what a block came to, with no field beyond", () => {
  const strict = BlockResultSchema.strict();
  const calls = [{ name: "fs.stat", ms: 1.5, ok: true }];
  strict.parse(blockResult({ ok: true, outcome: "value", size: 3, calls }));
  strict.parse(failedBlock("timeout", { name: "TimeoutError", message: "Too long" }));
  assert.deepEqual(strict.shape.outcome.options.toSorted(), Object.keys(OUTCOMES).toSorted());
});

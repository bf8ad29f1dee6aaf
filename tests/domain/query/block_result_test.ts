import assert from "node:assert/strict";
import { blockResult, failedBlock } from "../../../src/domain/query/block_result.ts";

Deno.test("blockResult() has every field, however little is known", () => {
  const base = blockResult({});
  const full = blockResult({ ok: true, outcome: "value", preview: "42", type: "number" });
  assert.deepEqual(Object.keys(full).sort(), Object.keys(base).sort());
  assert.deepEqual([base.ok, base.outcome, base.error, full.preview, full.stdout], [false, "none", null, "42", ""]);
});

Deno.test("failedBlock() says why, and that it timed out only where it did", () => {
  const error = { name: "Timeout", message: "Timeout (3s)" };
  const timeout = failedBlock("timeout", error, { ms: 3000 });
  assert.deepEqual([timeout.ok, timeout.timedOut, timeout.ms], [false, true, 3000]);
  assert.deepEqual(timeout.error, { ...error, line: null, column: null, excerpt: "", stack: "" });
  assert.equal(failedBlock("memory", error).timedOut, false);
});

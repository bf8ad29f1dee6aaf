import assert from "node:assert/strict";
import { retryLine } from "../../../src/domain/query/retry_line.ts";

Deno.test("retryLine() says when, for which time and why, in whole seconds", () => {
  const at = (waitMs: number): string => retryLine({ reason: "Cannot reach it", waitMs, attempt: 2 });
  assert.equal(at(8_400), "retrying in 8 s (try 2): Cannot reach it");
  assert.match(at(120), /in 1 s/);
});

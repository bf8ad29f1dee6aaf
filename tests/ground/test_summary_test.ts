import assert from "node:assert/strict";
import { parseSummary, summaryLine } from "../../scripts/test_summary.ts";

Deno.test("parseSummary() reads every form of the last line of deno test", () => {
  assert.deepEqual(parseSummary("ok | 1 passed | 0 failed (3ms)"), { passed: 1, failed: 0, skipped: 0 });
  assert.deepEqual(parseSummary("FAILED | 12 passed (3 steps) | 2 failed (1 step) | 4 ignored (1 step) (1m2s)"), {
    passed: 12,
    failed: 2,
    skipped: 4,
  });
  assert.deepEqual(parseSummary("ok | 0 passed | 0 failed | 7 filtered out (0ms)"), {
    passed: 0,
    failed: 0,
    skipped: 0,
  });
  assert.deepEqual(parseSummary("\x1b[0m\x1b[32mok\x1b[0m | 5 passed | 0 failed | 1 ignored \x1b[0m(2ms)"), {
    passed: 5,
    failed: 0,
    skipped: 1,
  });
});

Deno.test("parseSummary() takes the last summary: a test may print one of its own", () => {
  const output = "ok | 9 passed | 0 failed (1ms)\n ok | 8 passed | 0 failed\nFAILED | 1 passed | 1 failed (1ms)\n\n";
  assert.deepEqual(parseSummary(output), { passed: 1, failed: 1, skipped: 0 });
});

Deno.test("parseSummary() is null where the run broke off", () => {
  assert.equal(parseSummary(""), null);
  assert.equal(parseSummary("error: Module not found\nok | many passed"), null);
});

Deno.test("summaryLine() names skipped tests only if there are any", () => {
  assert.equal(summaryLine({ passed: 3, failed: 0, skipped: 0 }), "3 passed, 0 failed");
  assert.equal(summaryLine({ passed: 3, failed: 1, skipped: 2 }), "3 passed, 1 failed, 2 skipped");
});

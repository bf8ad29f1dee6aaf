import assert from "node:assert/strict";
import { refuseFinal, settleRefusal } from "../../src/iteration/run_iteration.ts";
import { cpuMs } from "../helpers/cpu_ms.ts";
import { entry, failedEntry } from "./_parts.ts";

const fine = { answer: "There are 7 call sites.", resolved: false, entries: [] };

Deno.test("refuseFinal() accepts an answer with content", () => {
  assert.equal(refuseFinal(fine), null);
  assert.equal(refuseFinal({ ...fine, entries: [entry("1")] }), null);
  for (const answer of ["42", "no", "Yes", "true", "none", "It is done: 3 files changed.", "result = 4"]) {
    assert.equal(refuseFinal({ ...fine, answer }), null, answer);
  }
});

Deno.test("refuseFinal() names the blocks that failed, before anything else", () => {
  const entries = [entry("1"), failedEntry("b()"), failedEntry("c()", { error: null, outcome: "killed" })];
  assert.equal(
    refuseFinal({ ...fine, answer: "done", entries }),
    "Block 2 failed: TypeError: no. Block 3 failed: killed. Fix what failed or leave it out, then finish",
  );
  assert.match(
    refuseFinal({ ...fine, entries: Array(7).fill(entries[1]) }) ?? "",
    /Block 5 failed.*\. 2 more failed\. /,
  );
});

Deno.test("refuseFinal() refuses an empty answer, wherever it came from", () => {
  assert.match(refuseFinal({ ...fine, answer: " \n" }) ?? "", /is empty: put the content/);
  assert.match(refuseFinal({ ...fine, answer: "", resolved: true }) ?? "", /is empty: the variable or template/);
});

Deno.test("refuseFinal() refuses placeholders that resolved to nothing", () => {
  for (
    const answer of [
      "done",
      "Result",
      "**OK**",
      " ready. ",
      '"output"',
      "Done!",
      "see above",
      "undefined",
      "[object Object]",
      "gotowe",
      "完成",
    ]
  ) {
    assert.match(refuseFinal({ ...fine, answer }) ?? "", /is a placeholder/, answer);
    assert.equal(refuseFinal({ ...fine, answer, resolved: true }), null, answer);
  }
});

Deno.test("refuseFinal() is quick on a large answer", () => {
  const begun = cpuMs();
  refuseFinal({ ...fine, answer: "removed variables ".repeat(60_000) });
  assert.ok(cpuMs() - begun < 200);
});

Deno.test("settleRefusal() refuses once and lets the same refusal through the second time, with low confidence and a note", () => {
  assert.deepEqual(settleRefusal({ reason: "The answer is empty", previous: null }), { letThrough: false });
  assert.deepEqual(settleRefusal({ reason: "The answer is empty", previous: "Block 1 failed" }), { letThrough: false });
  assert.deepEqual(settleRefusal({ reason: "Block 2 failed", previous: "Block 1 failed" }), {
    letThrough: true,
    confidence: "low",
    note: "Accepted although refused twice: Block 2 failed",
  });
});

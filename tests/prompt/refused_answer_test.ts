import assert from "node:assert/strict";
import { refuseFinal, settleRefusal } from "../../src/iteration/settle_final.ts";
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
    refuseFinal({ ...fine, answer: "done", entries })?.reason,
    "Block 2 failed: TypeError: no. Block 3 failed: killed. Fix what failed or leave it out, then finish",
  );
  assert.match(
    refuseFinal({ ...fine, entries: Array(7).fill(entries[1]) })?.reason ?? "",
    /Block 5 failed.*\. 2 more failed\. /,
  );
});

Deno.test("refuseFinal() refuses an empty answer, wherever it came from", () => {
  assert.match(refuseFinal({ ...fine, answer: " \n" })?.reason ?? "", /is empty; put the content/);
  assert.match(
    refuseFinal({ ...fine, answer: "", resolved: true })?.reason ?? "",
    /is empty; its variable, template or value/,
  );
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
    assert.match(refuseFinal({ ...fine, answer })?.reason ?? "", /is a placeholder/, answer);
    assert.equal(refuseFinal({ ...fine, answer, resolved: true }), null, answer);
  }
});

Deno.test("refuseFinal() is quick on a large answer", () => {
  const begun = cpuMs();
  refuseFinal({ ...fine, answer: "removed variables ".repeat(60_000) });
  assert.ok(cpuMs() - begun < 200);
});

Deno.test("refuseFinal() accepts a placeholder if the request asks for exactly this word", () => {
  const asked = (request: string, answer: string) => refuseFinal({ ...fine, answer, request }) === null;
  for (
    const [request, answer] of [
      ["answer with ok", "ok"],
      ["Just say: done", "Done."],
      ["Run the tests. Reply only with OK if they pass.", "**OK**"],
      ['Print "ready" when it is deployed', "ready"],
      ["Antworte nur mit fertig", "fertig"],
      ["Wenn alles klappt, schreib erledigt", "Erledigt!"],
      ["Answer with null if there is none", "null"],
      ["Is `undefined` its value?", "undefined"],
    ] as const
  ) assert.ok(asked(request, answer), request);
  for (
    const [request, answer] of [
      ["Fix the bug", "done"],
      ["Say what the function returns", "done"],
      ["Print the results", "results"],
      ["Return the output of the command", "output"],
      ["Write the answer into a file", "answer"],
      ["Answer with okay", "ok"],
      ["Is it ok to delete b.ts?", "ok"],
      ["Write a summary when done", "done"],
      ["Say what changed once it is done", "done"],
    ] as const
  ) assert.ok(!asked(request, answer), request);
});

Deno.test("settleRefusal() refuses once and lets the same refusal through the second time, with low confidence and a note", () => {
  const refusal = (reason: string) => ({ reason, fact: "it is empty" });
  assert.deepEqual(settleRefusal(refusal("The answer is empty"), null), { letThrough: false });
  assert.deepEqual(settleRefusal(refusal("The answer is empty"), "Block 1 failed"), { letThrough: false });
  assert.deepEqual(settleRefusal(refusal("Block 2 failed"), "Block 1 failed"), {
    letThrough: true,
    confidence: "low",
    note: "Vis doubts this answer: it is empty",
  });
});

import assert from "node:assert/strict";
import { entry, failedEntry } from "../_parts.ts";
import { attemptLine } from "../../../src/prompt/context_message.ts";

Deno.test("attemptLine() describes an attempt and its result", () => {
  const reason = null;
  const executed = { iteration: 2, outcome: "executed", reason } as const;
  assert.equal(
    attemptLine({
      ...executed,
      entries: [entry("const hits =\n  find()", { defined: ["hits"] }), entry("hits.length")],
    }),
    "2: const hits = find() (+1 block) → defined hits; value 1",
  );
  assert.equal(attemptLine({ ...executed, entries: [entry("f()", { preview: "7" })] }), "2: f() → 7");
  assert.equal(
    attemptLine({ ...executed, entries: [entry("f()", { stdout: "start\n[\n {n: 1},\n]\n" })] }),
    "2: f() → printed {n: 1},",
  );
  assert.equal(
    attemptLine({ ...executed, entries: [entry("a"), failedEntry("b")] }),
    "2: a (+1 block) → 1 of 2 failed: TypeError: no",
  );
  assert.equal(attemptLine({ iteration: 1, entries: [], outcome: "empty", reason }), "1: no code → nothing was run");
  assert.equal(
    attemptLine({ iteration: 1, entries: [], outcome: "failed", reason: "cut off" }),
    "1: no code → failed: cut off",
  );
  assert.equal(
    attemptLine({ iteration: 3, entries: [entry("x")], outcome: "refused", reason: "a placeholder" }),
    "3: x → final refused: a placeholder",
  );
  assert.equal(attemptLine({ iteration: 4, entries: [entry("x")], outcome: "final", reason }), "4: x → final");
});

Deno.test("attemptLine() is one line of at most 160 characters, whatever came", () => {
  const long = "line one\n<journal>\r\n[iter 1/1] 😀".repeat(20_000);
  for (const outcome of ["executed", "empty", "failed", "refused", "final"] as const) {
    const entries = [entry(long, { preview: long, defined: [long, long] }), failedEntry(long)];
    const line = attemptLine({ iteration: 12, entries, outcome, reason: long });
    assert.ok(line.length <= 160 && !/[\n\r]/.test(line) && line.isWellFormed(), line);
    assert.ok(line.startsWith("12: line one"));
  }
});

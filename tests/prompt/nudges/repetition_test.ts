import assert from "node:assert/strict";
import { blockResult, failedBlock } from "../../../src/domain/query/host_call.ts";
import { Repetition } from "../../../src/prompt/nudges.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";

const value = (code: string, preview: string, defined: string[] = []) => ({
  code,
  result: blockResult({ ok: true, outcome: "value", type: "string", preview, defined }),
});
const failure = (code: string, message: string) => ({ code, result: failedBlock("error", { name: "Error", message }) });

function after(...iterations: { code: string; result: ReturnType<typeof blockResult> }[][]): string | null {
  const repetition = new Repetition();
  for (const entries of iterations) repetition.record(entries);
  return repetition.offender();
}

Deno.test("offender() quotes the same code with the same result at the third time", () => {
  const again = [value('fs.stat("a")', "7")];
  assert.equal(after(again, again), null);
  assert.equal(after(again, again, again), 'fs.stat("a") → 7 (3×)');
  assert.equal(after(again, again, [value('fs.stat("a")', "8")]), null);
});

Deno.test("offender() finds the same error from different code", () => {
  assert.equal(after([failure("a()", "no")], [failure("b()", "no")], [failure("c()", "yes")]), null);
  assert.match(
    after([failure("a()", "no")], [failure("b()", "no")], [failure("c()", "no")]) ?? "",
    /^Error: no \(in 3 replies\)$/,
  );
});

Deno.test("offender() counts one error of blocks that were written together once", () => {
  const together = ["a()", "b()", "c()", "d()"].map((code) => failure(code, "no"));
  assert.equal(after(together), null);
  assert.equal(after(together, together), null);
  assert.match(after(together, together, together) ?? "", /^a\(\) → Error: no \(3×\)/);
});

Deno.test("offender() finds the same call hidden under new names", () => {
  const hidden = (n: number) => [value(`const text${n} =  read("x")`, "", [`text${n}`])];
  assert.match(after(hidden(1), hidden(2), hidden(3)) ?? "", /text3/);
  assert.equal(after(hidden(1), hidden(2), [value('const text3 = read("y")', "", ["text3"])]), null);
});

Deno.test("offender() names no block for a result that different blocks had", () => {
  const long = "the same forty characters of one result, again";
  const blocks = ["a()", "b()", "c()", "d()"].map((code) => value(code, long));
  assert.equal(after(...blocks.map((block) => [block])), null);
  assert.equal(after(blocks), null);
  assert.match(after(blocks, blocks, blocks) ?? "", /^a\(\) → .* \(3×\)$/);
});

Deno.test("offender() is silent again once the model does something else", () => {
  const again = [value("f()", "7")];
  assert.equal(after(again, again, again, [value("g()", "1")]), null);
});

Deno.test("record() counts over iterations and within one, and names the worst", () => {
  const entries = [
    value("f()", "1"),
    value("f()", "1"),
    value("f()", "1"),
    value("f()", "1"),
    ...Array(3).fill(value("g()", "2")),
  ];
  assert.equal(after(entries), "f() → 1 (4×)");
});

Deno.test("record() takes little time and memory for huge blocks and many of them", () => {
  const repetition = new Repetition();
  const huge = "x".repeat(3_000_000);
  const begun = cpuMs();
  for (let i = 0; i < 3; i++) repetition.record([value(huge, huge)]);
  assert.ok((repetition.offender()?.length ?? 999) <= 80);
  for (let i = 0; i < 5_000; i++) repetition.record([value(`f(${i})`, "1")]);
  assert.ok(cpuMs() - begun < 2_000);
  for (let i = 0; i < 3; i++) repetition.record([value("f(0)", "1")]);
  assert.match(repetition.offender() ?? "", /\(3×\)/, "the oldest keys were dropped, so that f(0) counts anew");
});

const LINES = Array.from({ length: 60 }, (_, n) => `const value${n} = compute(${n});`);
const read = (from: number, to: number, numbered = false) => {
  const lines = LINES.slice(from, to).map((line, at) => numbered ? `${from + at + 1}: ${line}` : line);
  return value(`lines.slice(${from}, ${to})`, `"""\n${lines.join("\n")}"""`);
};

Deno.test("news: lines that were shown before are nothing new, in other pieces and with numbers too", () => {
  const repetition = new Repetition();
  const isNew = (...entries: ReturnType<typeof value>[]): boolean => {
    repetition.record(entries);
    return repetition.news;
  };
  assert.equal(isNew(read(0, 40)), true);
  assert.equal(isNew(read(10, 35)), false);
  assert.equal(isNew(read(5, 30, true)), false);
  assert.equal(isNew(read(30, 50)), true);
  const text = LINES.join("\n");
  assert.equal(isNew(value("text.slice(100, 900)", text.slice(100, 900))), false);
  assert.equal(isNew(value("text.length", "1234")), true);
  assert.equal(isNew(value("text.length", "1234")), false);
});

Deno.test("news: a change is always new, and a command only by its output", () => {
  const repetition = new Repetition();
  const shown = {
    ok: true,
    outcome: "value",
    type: "Object",
    preview: '{ path: "src/a.ts", added: 1, removed: 1, more: 0 }',
  } as const;
  const call = { name: "fs.edit", ms: 1, ok: true };
  const isNew = (code: string, more: Partial<Parameters<typeof blockResult>[0]>): boolean => {
    repetition.record([{ code, result: blockResult({ ...shown, ...more }) }]);
    return repetition.news;
  };
  assert.equal(isNew("edit(1)", { calls: [{ ...call, changes: "files" }] }), true);
  assert.equal(isNew("edit(2)", { calls: [{ ...call, changes: "files" }] }), true);
  const command = { name: "shell.run", ms: 1, ok: true, changes: "other", exitCode: 0 } as const;
  assert.equal(isNew("run(cat a)", { calls: [command] }), false);
  assert.equal(isNew("run(sed a)", { calls: [{ ...command, changes: "files" }] }), true);
  assert.equal(isNew("run(npm test)", { calls: [command], stdout: "12 tests passed, none failed" }), true);
});

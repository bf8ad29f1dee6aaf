import assert from "node:assert/strict";
import type { Expectation } from "../../../bench/eval/agent_task.ts";
import { exact, json, list, number, text } from "../../../bench/eval/expect/answers.ts";

async function verdicts(expects: Expectation, answers: readonly string[]): Promise<readonly boolean[]> {
  const said = await Promise.all(answers.map((answer) => expects.check({ answer, workspace: "/nowhere" })));
  return said.map((reason) => reason === "");
}

Deno.test("number(): alone or in a sentence, with separators; not next to another number", async () => {
  const right = ["1234", "**1,234**", "1 234.", "The sum is 1234.", "1234.0"];
  assert.deepEqual(await verdicts(number(1234), right), right.map(() => true));
  const wrong = ["", "1235", "-1234", "12345", "1234 of 2000", "1.234", "1, 234"];
  assert.deepEqual(await verdicts(number(1234), wrong), wrong.map(() => false));
  assert.deepEqual(await verdicts(number(-15), ["-15", "15"]), [true, false]);
});

Deno.test("text(): case, quotes, emphasis and a full stop do not matter; exact() takes letters as they are", async () => {
  assert.deepEqual(await verdicts(text("Tannau"), ["tannau", "**Tannau**.", '"Tannau"', "in Tannau"]), [
    true,
    true,
    true,
    false,
  ]);
  assert.deepEqual(await verdicts(exact("OK"), ["OK\n", "ok", "OK."]), [true, false, false]);
});

Deno.test("list(): lines, commas and bullets, in order unless any order is right", async () => {
  assert.deepEqual(await verdicts(list(["a", "b"]), ["a, b", "- a\n- `b`\n", "1. a\n2. b", "b, a", "a", "a, b, c"]), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  assert.deepEqual(await verdicts(list(["a", "b"], { anyOrder: true }), ["b, a", "b, b"]), [true, false]);
});

Deno.test("json(): with or without a fence, keys in any order", async () => {
  const answers = ['{"b":2,"a":1}', '```json\n{"a": 1, "b": 2}\n```', '{"a":1}', "a is 1"];
  assert.deepEqual(await verdicts(json({ a: 1, b: 2 }), answers), [true, true, false, false]);
});

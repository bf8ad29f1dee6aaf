import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

Deno.test("runQuery() ends with an error when a template that cannot be filled is sent again", async () => {
  const reply = replyJson("const seen = 1", { final: "{{seen}} {{missing}}" });
  await using engine = await startEngine([reply, reply]);
  const result = await engine.ask("try");
  assert.deepEqual([result.status, result.reason], ["error", "unsupported_answer"]);
  assert.match(
    result.answer,
    /\{\{missing\}\} names no variable[\s\S]*The answer that it gave: \{\{seen\}\} \{\{missing\}\}/,
  );
});

Deno.test("runQuery() takes plain text that a model repeats as the answer, with low confidence and a note", async () => {
  await using engine = await startEngine(["Hello.", "<think>Again?</think>\nHello! What shall I do?"]);
  const result = await engine.ask("hello");
  assert.deepEqual([result.reason, result.answer, result.confidence], ["answered", "Hello! What shall I do?", "low"]);
  assert.match(result.notes.join(), /did not use the required format/);
});

Deno.test("runQuery() gives a model that writes a fence for no block, or data, one more call", async () => {
  for (
    const text of ["Use:\n```python\nprint(1)\n```", "Use:\n```js\nimport { a } from './a.js';\n```", 'It is\n{"n": 1}']
  ) {
    await using engine = await startEngine([text, text, text]);
    const result = await engine.ask("how?");
    assert.deepEqual([result.reason, result.answer], ["answered", text]);
  }
});

Deno.test("runQuery() takes a text with an example that a model repeats, but no other text with fences", async () => {
  const text = "Use express:\n```js\nconst app = express();\napp.listen(3000);\n```\nThat is all.";
  const typed = "Export it:\n\n```ts\nimport ms from 'ms';\nexport const ttl = ms('1h');\n```";
  for (const one of [text, typed]) {
    await using engine = await startEngine([one, one]);
    const result = await engine.ask("how?");
    assert.deepEqual([result.reason, result.answer, result.confidence], ["answered", one, "low"]);
    assert.match(result.notes.join(), /did not use the required format/);
  }
  const calls = "Reads:\n```js\nawait varHistory('none')\nthrow new Error('no')\n```";
  const unfilled = "It is {{missing}}:\n```js\nimport a from 'a';\na();\n```";
  for (const [first, second] of [[text, typed], [calls, calls], [unfilled, unfilled]] as const) {
    await using engine = await startEngine([first, second, replyJson("1", { final: "Over." })]);
    assert.equal((await engine.ask("Fix the bug in src/a.ts")).answer, "Over.");
  }
});

Deno.test("runQuery() ends with the text of a model that repeats plain text that is no answer", async () => {
  for (const text of ["I have fixed the bug in src/a.ts.", "Done.", "The result: {{missing}}", '{ "n": 1, '.trim()]) {
    await using engine = await startEngine(Array(9).fill(text));
    const result = await engine.ask("Fix the bug in src/a.ts");
    assert.deepEqual([result.status, result.reason], ["error", "unusable_replies"], text);
    assert.ok(result.answer.includes(`It wrote: ${text}`), result.answer);
    assert.equal(engine.provider.requests.length, 3);
  }
});

Deno.test("runQuery() lets the same refusal through the second time, with low confidence and a note", async () => {
  const reply = replyJson(["const seen = 1", "nope()"], { final: "{{seen}}" });
  await using engine = await startEngine([reply, reply]);
  const result = await engine.ask("try");
  assert.deepEqual([result.status, result.confidence, result.iterations], ["done", "low", 2]);
  assert.equal(result.notes.length, 1);
});

Deno.test("runQuery() charges the fifth reply without a result to the budget, and reports their number", async () => {
  const fails = Array.from({ length: 8 }, (_, at) => replyJson(`throw new Error("fault ${at}")`));
  await using engine = await startEngine([...fails, replyJson([], { final: "best I have" })]);
  assert.equal((await engine.ask("fail")).reason, "max_iterations");
  assert.equal(engine.provider.requests.length, 9);
  assert.match(engine.context(1), /^\[iter 1\/4\] 1 reply without a result\n/);
  assert.match(engine.context(7), /^\[iter 4\/4\] 7 replies without a result\n/);
});

Deno.test("runQuery() does not charge the first failed iterations to the budget", async () => {
  await using engine = await startEngine([
    ...Array.from({ length: 4 }, () => replyJson("throw new Error('x')")),
    replyJson("const late = 1", { final: "{{late}}" }),
  ], { settings: { budget: 1 } });
  assert.equal((await engine.ask("try")).status, "done");
  assert.match(engine.context(4), /^\[iter 1\/1\]/);
});

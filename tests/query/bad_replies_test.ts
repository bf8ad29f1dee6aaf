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

Deno.test("runQuery() takes plain text that is repeated as the answer once a block had a result", async () => {
  await using engine = await startEngine([replyJson("const seen = 7"), "There are 7.", "There are 7 of them."]);
  const result = await engine.ask("how many");
  assert.deepEqual([result.reason, result.answer, result.confidence], ["answered", "There are 7 of them.", "low"]);
  assert.match(result.notes.join(), /plain text/);
});

Deno.test("runQuery() shows the text of a model that never keeps the format", async () => {
  await using engine = await startEngine(Array(9).fill("I think it is 42."));
  const result = await engine.ask("how many");
  assert.deepEqual([result.status, result.reason], ["error", "unusable_replies"]);
  assert.match(result.answer, /plain text[\s\S]*It wrote: I think it is 42\./);
  assert.ok(engine.provider.requests.length <= 8);
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

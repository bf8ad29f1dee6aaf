import assert from "node:assert/strict";
import history from "../../extensions/history/mod.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const OPTIONS = { signal: new AbortController().signal, emit: () => {} };
const LOOK = `const id = (await history.conversations()).conversations[0].id;
const asked = (await history.queries()).map(({ request }) => request), named = (await history.queries(id)).length;
const pears = (await history.search("pears", { conversation: id })).hits.map(({ kind }) => kind).sort();
const plums = (await history.search("plums", { conversation: id })).hits.length;
const listed = (await history.variables()).map(({ name }) => name).filter((name) => name.startsWith("fruit"));
const found = JSON.stringify({ asked, named, pears, plums, listed, value: await history.variable(id, "fruit") })`;

Deno.test("a request in an older branch finds the variables of that branch, not of the newest one", async () => {
  await using engine = await startEngine([
    replyJson("const fruit = 'apples'", { final: "We have apples." }),
    replyJson("fruit = 'pears'; const fruitInTheFork = 1", { final: "We have pears." }),
    replyJson("fruit = 'plums'", { final: "We have plums." }),
    replyJson(LOOK, { final: "{{found}}" }),
    replyJson(LOOK, { final: "{{found}}" }),
  ], { extensions: [history] });
  const { conversations } = engine;
  const first = await engine.ask("Buy apples");
  const fork = await conversations.fork({ queryId: first.queryId, position: null });
  await conversations.ask(fork, "Buy pears", OPTIONS);
  await engine.ask("Buy plums");
  const older = JSON.parse((await engine.ask("Look")).answer);
  assert.deepEqual(older, {
    asked: ["Buy apples", "Buy plums", "Look"],
    named: 3,
    pears: [],
    plums: 3,
    listed: ["fruit"],
    value: "plums",
  });
  const newer = JSON.parse((await conversations.ask(fork, "Look", OPTIONS)).answer);
  assert.deepEqual(newer, {
    asked: ["Buy apples", "Buy pears", "Look"],
    named: 3,
    pears: ["answer", "code", "request"],
    plums: 0,
    listed: ["fruitInTheFork", "fruit"],
    value: "pears",
  });
});

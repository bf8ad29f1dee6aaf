import assert from "node:assert/strict";
import type { AskOptions } from "../../src/conversation/ask_options.ts";
import { UsageError } from "../../src/domain/errors.ts";
import type { Image } from "../../src/domain/images.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { replyJson, scriptedProvider } from "../helpers/scripted_provider.ts";

const COUNTS = {
  type: "object",
  properties: { files: { type: "integer", minimum: 1 } },
  required: ["files"],
  additionalProperties: false,
};
const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]);
const IMAGES: readonly Image[] = [
  { kind: "bytes", mediaType: "image/png", bytes: PNG },
  { kind: "url", url: "https://example.org/a.png" },
];

async function send(engine: Engine, given: Partial<AskOptions>) {
  const { signal } = new AbortController();
  return await engine.conversations.ask(engine.branch, "How many files?", {
    signal,
    emit: (event) => engine.events.push(event),
    ...given,
  });
}

Deno.test("runQuery() with a schema takes answer(value), a variable's name, a template and literal JSON", async () => {
  const finals = [
    replyJson("await answer(new Map([['files', 3]]))"),
    replyJson("const counts = { files: 3 }", { final: "counts" }),
    replyJson("const n = 3", { final: '{"files": {{n}}}' }),
    replyJson([], { final: '{"files": 3}' }),
    replyJson([], { final: { answer: { files: 3 } } }),
  ];
  for (const reply of finals) {
    await using engine = await startEngine([reply]);
    const result = await send(engine, { responseSchema: COUNTS });
    assert.deepEqual([result.status, result.value, JSON.parse(result.answer)], ["done", { files: 3 }, { files: 3 }]);
  }
});

Deno.test("runQuery() with a schema fills lists of objects into a template as JSON, and as a table without one", async () => {
  const code = 'const packages = [{ name: "a", size: 1 }, { name: "b", size: 2 }]';
  const reply = replyJson(code, { final: '{"packages": {{packages}}}' });
  await using engine = await startEngine([reply, reply]);
  const result = await send(engine, { responseSchema: { type: "object", required: ["packages"] } });
  const value = { packages: [{ name: "a", size: 1 }, { name: "b", size: 2 }] };
  assert.deepEqual([result.status, result.value, JSON.parse(result.answer)], ["done", value, value]);
  assert.match((await send(engine, {})).answer, /\| name \| size \|/);
});

Deno.test("runQuery() with a schema shows it in the stable prefix, with the reason why an answer was refused", async () => {
  await using engine = await startEngine([
    replyJson([], { final: "three files" }),
    replyJson("const counts = { files: 0, of: 'x' }", { final: "counts" }),
    replyJson("counts.files = 3; delete counts.of; await answer(counts)"),
  ]);
  const result = await send(engine, { responseSchema: COUNTS });
  assert.deepEqual([result.reason, result.value, result.iterations], ["answered", { files: 3 }, 3]);
  const [first, second, third] = engine.provider.requests;
  assert.ok(first?.texts[2]?.includes(JSON.stringify(COUNTS)));
  assert.deepEqual(first?.texts.slice(0, 3), third?.texts.slice(0, 3));
  assert.match(second?.context ?? "", /refused: The answer must be JSON that fits the schema/);
  assert.match(third?.context ?? "", /\/files must be at least 1, is 0; the value must not have the property "of"/);
});

Deno.test("runQuery() with a schema never ends with an answer that does not satisfy it", async () => {
  await using engine = await startEngine(Array.from({ length: 5 }, () => replyJson([], { final: '{"files": 0}' })));
  const result = await send(engine, { responseSchema: COUNTS });
  assert.deepEqual([result.status, result.reason, result.value], ["error", "answer_schema", undefined]);
  assert.match(result.answer, /^No answer that satisfies the schema after 5 steps\. .*\/files must be at least 1/);
  assert.equal(engine.provider.remaining, 0);
  const [stored] = await engine.conversations.queries(engine.branch);
  assert.deepEqual([stored?.reason, stored?.status], ["answer_schema", "error"]);
});

Deno.test("runQuery() with a schema takes a right answer of the last call", async () => {
  const wrong = replyJson([], { final: "no" });
  await using engine = await startEngine([wrong, wrong, wrong, wrong, replyJson([], { final: '{"files": 1}' })]);
  const result = await send(engine, { responseSchema: COUNTS });
  assert.deepEqual([result.status, result.reason, result.value], ["error", "max_iterations", { files: 1 }]);
});

Deno.test("runQuery() shows a large schema by its head and binds it as $schema", async () => {
  const responseSchema = { enum: Array.from({ length: 3_000 }, (_, i) => `value ${i}`) };
  await using engine = await startEngine([replyJson("await answer(JSON.parse($schema).enum.at(-1))")]);
  const result = await send(engine, { responseSchema });
  assert.deepEqual(result.value, "value 2999");
  assert.ok((engine.provider.requests[0]?.texts[2]?.length ?? 0) < 6_000);
});

Deno.test("runQuery() stores the schema with its query; the next query has none", async () => {
  await using engine = await startEngine([replyJson([], { final: '{"files": 3}' }), replyJson([], { final: "free" })]);
  await send(engine, { responseSchema: COUNTS });
  assert.equal((await engine.ask("And now?")).answer, "free");
  const [first, second] = await engine.store.queries(engine.branch.branchId);
  assert.equal((await engine.store.queryExtras(first?.queryId ?? "")).answerSchema, JSON.stringify(COUNTS));
  assert.equal((await engine.store.queryExtras(second?.queryId ?? "")).answerSchema, null);
});

Deno.test("send() repeated plain text that a schema refuses is no answer", async () => {
  const plain = "There are 7 files.";
  await using engine = await startEngine([
    replyJson("const seen = 7"),
    plain,
    plain,
    replyJson([], {
      final: '{"files": 7}',
    }),
  ]);
  const result = await send(engine, { responseSchema: COUNTS });
  assert.deepEqual([result.reason, result.value], ["answered", { files: 7 }]);
});

Deno.test("send() refuses an invalid schema before it stores a row", async () => {
  await using engine = await startEngine([]);
  await assert.rejects(send(engine, { responseSchema: { type: "strange" } }), UsageError);
  assert.deepEqual(await engine.store.queries(engine.branch.branchId), []);
});

Deno.test("send() images go with the request, in every call of their query and in no later one", async () => {
  const provider = scriptedProvider([
    replyJson("1"),
    replyJson([], { final: "A shelf" }),
    replyJson([], { final: "Later" }),
  ], { capabilities: { images: true } });
  await using engine = await startEngine([], { provider });
  await send(engine, { images: IMAGES });
  await engine.ask("And now?");
  const shown = provider.requests.map(({ messages }) => messages.map(({ images }) => images?.length ?? 0));
  assert.deepEqual(shown, [[0, 2, 0, 0], [0, 2, 0, 0], [0, 0, 0, 0]]);
  assert.match(
    provider.requests[2]?.context ?? "",
    /request before: How many files\?.*\[with 2 images, not shown again\]/s,
  );
  const [first, second] = await engine.store.queries(engine.branch.branchId);
  assert.deepEqual((await engine.store.queryExtras(first?.queryId ?? "")).images, IMAGES);
  assert.deepEqual((await engine.store.queryExtras(second?.queryId ?? "")).images, []);
});

Deno.test("send() refuses images where no model takes them, before any call, and names the model", async () => {
  await using engine = await startEngine([]);
  await assert.rejects(
    send(engine, { images: IMAGES }),
    (error) =>
      error instanceof UsageError &&
      /Cannot send images: Vis does not know that script of scripted accepts images; /.test(error.message),
  );
  assert.equal(engine.provider.requests.length, 0);
  assert.deepEqual(await engine.store.queries(engine.branch.branchId), []);
});

Deno.test("send() goes with one user message where the model has no system role, images included", async () => {
  const provider = scriptedProvider([replyJson([], { final: "A shelf" })], {
    capabilities: { images: true, alternatingRoles: true },
  });
  await using engine = await startEngine([], { provider });
  await send(engine, { images: IMAGES });
  assert.deepEqual(provider.requests[0]?.messages.map(({ images }) => images?.length), [2]);
});

Deno.test("retry() gives the model the extras of the run before, in its place and in a fork", async () => {
  await using engine = await startEngine(["a", "b", "c", "d"].map((final) => replyJson([], { final })));
  const { queryId } = await send(engine, { instructions: "Answer in rhymes" });
  const again = { signal: new AbortController().signal, emit: () => {} };
  const second = await engine.conversations.retry(queryId, again);
  await engine.ask("And now?");
  await engine.conversations.retry(second.queryId, again);
  const told = engine.provider.requests.map(({ texts }) => texts.join("\n").includes("Answer in rhymes"));
  assert.deepEqual(told, [true, true, false, true]);
});

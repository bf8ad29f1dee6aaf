import assert from "node:assert/strict";
import { ProviderError } from "../../src/domain/errors.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson, scriptedProvider, type ScriptedReply } from "../helpers/scripted_provider.ts";

const ANSWER = replyJson("const n = 1", { final: "It is {{n}}" });
const REQUEST = "How many are there?  Count\nthem";
const FROM_REQUEST = "How many are there? Count them";

/** An engine whose conversation is named for the request, as channels do, with a second provider for titles. */
async function named(
  titles: readonly ScriptedReply[],
  { replies = [ANSWER], ...options }: EngineOptions & { readonly replies?: readonly ScriptedReply[] } = {},
) {
  await buildSandbox();
  const namer = scriptedProvider(titles, { name: "namer", model: "small" });
  const engine = await startEngine(replies, {
    routes: [{ provider: namer, model: "small" }],
    settings: { titleModel: "namer/small" },
    ...options,
  });
  const branch = await engine.conversations.create({ title: REQUEST, channel: "test", workspace: "/nowhere" });
  const ask = (request = REQUEST) =>
    engine.conversations.ask(branch, request, { signal: new AbortController().signal, emit: () => {} });
  const title = async () => (await engine.store.findConversation(branch.branchId))?.title;
  return { engine, namer, branch, ask, title, [Symbol.asyncDispose]: () => engine.close() };
}

async function plainCalls({ store }: Engine, queryId: string) {
  const iterations = await store.iterations(queryId);
  return (await Promise.all(iterations.map(({ iterationId }) => store.subCalls(iterationId)))).flat();
}

Deno.test("without titleModel no call is made that the user did not ask for", async () => {
  for (const settings of [{}, { titleModel: null }]) {
    await using talk = await named(["A title"], { settings });
    const result = await talk.ask();
    assert.deepEqual([talk.engine.provider.requests.length, talk.namer.requests.length], [1, 0]);
    assert.deepEqual([result.usage.calls, await plainCalls(talk.engine, result.queryId)], [1, []]);
    assert.equal(await talk.title(), FROM_REQUEST);
  }
});

Deno.test("titleModel names a new conversation once; the call is counted and has a row", async () => {
  const usage = { input: 70, output: 9 };
  await using talk = await named([{ text: '<think>hm</think>\n# Title: "Counting things"\nmore', usage }], {
    replies: [{ text: ANSWER, usage: { input: 100, output: 10 } }, ANSWER],
  });
  const { queryId, ...result } = await talk.ask();
  assert.deepEqual([result.usage.calls, result.usage.input, result.usage.output], [2, 170, 19]);
  assert.deepEqual((await talk.engine.store.query(queryId))?.usage, result.usage);
  const [call, ...more] = await plainCalls(talk.engine, queryId);
  assert.deepEqual([call?.provider, call?.model, call?.usage.input, more], ["namer", "small", 70, []]);
  assert.equal(await talk.title(), "Counting things");
  assert.match(talk.namer.requests[0]?.context ?? "", /How many are there/);
  await talk.ask("And now?");
  assert.equal(talk.namer.requests.length, 1, "later queries ask for none");
  assert.equal(await talk.title(), "Counting things");
});

Deno.test("a title that cannot be made fails no query, and the title is the request's", async () => {
  const failure = new ProviderError("The key was refused", { code: "auth", retryable: false, status: 401 });
  for (const reply of [failure, " \n```\n", '"""']) {
    await using talk = await named([reply]);
    const { status, answer, queryId } = await talk.ask();
    assert.deepEqual([status, answer], ["done", "It is 1"]);
    assert.equal(await talk.title(), FROM_REQUEST);
    const [call] = await plainCalls(talk.engine, queryId);
    assert.equal(call?.error ?? null, reply === failure ? "The key was refused" : null);
    const warned = talk.engine.logged.filter(({ event }) => event === "title_not_made");
    assert.equal(warned.length, reply === failure ? 1 : 0);
  }
});

Deno.test("a title that the user chose is never replaced, also where it was chosen while the call ran", async () => {
  for (const chosen of ["Mine", FROM_REQUEST]) {
    await using talk = await named(["Not wanted"], {
      replies: [() => {
        void talk.engine.conversations.records.rename(talk.branch, chosen);
        return ANSWER;
      }],
    });
    await talk.ask();
    assert.equal(await talk.title(), chosen);
  }
  await using talk = await named(["Not wanted"]);
  await talk.engine.conversations.records.rename(talk.branch, "Mine");
  await talk.ask();
  assert.deepEqual([await talk.title(), talk.namer.requests.length], ["Mine", 0]);
});

Deno.test("the call for a title ends with a query that is cancelled, and none is made once a limit is reached", async () => {
  const controller = new AbortController();
  await using talk = await named([{ text: "Late", delayMs: 60_000 }], {
    replies: [() => {
      controller.abort();
      return ANSWER;
    }],
  });
  const options = { signal: controller.signal, emit: () => {} };
  const { reason } = await talk.engine.conversations.ask(talk.branch, REQUEST, options);
  assert.deepEqual([reason, talk.namer.aborted, await talk.title()], ["cancelled", 1, FROM_REQUEST]);

  const limits = { costUsd: null, tokens: null, wallMs: 0 };
  await using none = await named(["Not wanted"], { settings: { titleModel: "namer/small", limits } });
  assert.deepEqual([(await none.ask()).reason, none.namer.requests.length], ["limit_time", 0]);
});

Deno.test("titleModel gives no title from the thinking of any model", async () => {
  const titles: readonly (readonly [string, string])[] = [
    ["<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Counting", "Counting"],
    ["<|channel>thought\nHm.\n<channel|>Counting", "Counting"],
    ["<think>Hm, cut", FROM_REQUEST],
  ];
  for (const [text, title] of titles) {
    await using talk = await named([text]);
    await talk.ask();
    assert.equal(await talk.title(), title, text);
  }
});

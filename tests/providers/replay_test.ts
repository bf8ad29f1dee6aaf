import assert from "node:assert/strict";
import rlm from "../../extensions/rlm/mod.ts";
import type { AskOptions } from "../../src/conversation/ask_options.ts";
import { ProviderError } from "../../src/domain/errors.ts";
import { compareRecordings, Playback, type Recording } from "../../src/domain/records/recording.ts";
import { replayProvider } from "../../src/providers/replay.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { oracleProvider } from "../helpers/oracle_provider.ts";
import { replyJson, type ScriptedReply } from "../helpers/scripted_provider.ts";

async function send(engine: Engine, request: string, given: Partial<AskOptions> = {}): Promise<void> {
  const { signal } = new AbortController();
  await engine.conversations.ask(engine.branch, request, { signal, emit: () => {}, ...given });
}

async function record(
  replies: readonly ScriptedReply[],
  { requests, ...options }: EngineOptions & {
    readonly requests: readonly (readonly [string, Partial<AskOptions>?])[];
  },
): Promise<Recording> {
  await using engine = await startEngine(replies, options);
  for (const [request, given] of requests) await send(engine, request, given);
  return await engine.conversations.recording(engine.branch);
}

async function replay(recording: Recording, options: EngineOptions = {}): Promise<Recording> {
  const playback = new Playback(recording);
  await using engine = await startEngine([], { ...options, provider: replayProvider(playback) });
  for (const [at, { text, images, answerSchema, context, iterations }] of recording.queries.entries()) {
    playback.begin(at);
    await send(engine, text, {
      images,
      maxIterations: iterations[0]?.budget ?? 1,
      ...(answerSchema === null ? {} : { responseSchema: answerSchema }),
      ...(context === null ? {} : { context: { ...context, pieces: context.pieces() } }),
    });
  }
  return await engine.conversations.recording(engine.branch);
}

function differences(one: Recording, other: Recording) {
  assert.equal(one.queries.length, other.queries.length);
  return one.queries.flatMap((query, at) => compareRecordings(query, other.queries[at] ?? query));
}

function trajectory(recording: Recording): unknown {
  const hidden = ["queryId", "iterationId", "conversationId", "createdAt", "ms"];
  return JSON.parse(JSON.stringify(recording, (key, value) => hidden.includes(key) ? undefined : value));
}

const REPLIES: readonly ScriptedReply[] = [
  { text: replyJson("const n = 6\nn * 7", { thinking: "compute" }), reasoning: "native thoughts" },
  replyJson(["nowhere()", "const list = [n, 2]; console.log('seen'); list"]),
  "no reply at all",
  new ProviderError("Cannot ask: the request is refused", { code: "refused", retryable: false }),
  replyJson([], { final: "{{missing}} {{n}}" }),
  replyJson("const again = list.length", { final: "{{n}} and {{again}}" }),
  replyJson("n + 1", { final: "No, {{n}}" }),
];
const REQUESTS = [["What is it?"], ["Are you sure?"]] as const;

Deno.test("replayProvider() plays a conversation with refusals, errors and native reasoning to the same ends", async () => {
  const recording = await record(REPLIES, { requests: REQUESTS });
  const played = await replay(recording);
  assert.deepEqual(differences(recording, played), []);
  assert.deepEqual(played.queries.map(({ answer }) => answer), ["6 and 2", "No, 6"]);
  assert.equal(played.queries[0]?.iterations[0]?.thinking, "native thoughts");
});

Deno.test("replayProvider() two replays of one recording are the same but for times and ids", async () => {
  const recording = await record(REPLIES, { requests: REQUESTS });
  const [one, other] = [await replay(recording), await replay(recording)];
  assert.deepEqual(trajectory(one), trajectory(other));
  assert.notEqual(one.queries[0]?.queryId, other.queries[0]?.queryId);
});

Deno.test("replayProvider() finds exactly the different results", async () => {
  const recording = await record([replyJson("1 + 1"), replyJson([], { final: "two" })], { requests: [["Add"]] });
  const [query] = recording.queries;
  assert.ok(query);
  const [first, ...rest] = query.iterations;
  const changed = { ...first, response: replyJson("1 + 2") } as typeof query.iterations[number];
  const played = await replay({ ...recording, queries: [{ ...query, iterations: [changed, ...rest] }] });
  const found = differences(recording, played).map(({ place, field, replayed }) => [place, field, replayed]);
  assert.deepEqual(found, [["iteration 1", "reply", replyJson("1 + 2")], ["iteration 1, block 1", "preview", "3"]]);
});

Deno.test("replayProvider() plays the last call of a spent budget where it was, extensions of the budget included", async () => {
  const replies = [
    replyJson("await requestMoreIterations(1)"),
    replyJson("2"),
    replyJson("3"),
    replyJson([], { final: "best" }),
  ];
  const recording = await record(replies, { requests: [["Try"]], settings: { budget: 2 } });
  assert.deepEqual(recording.queries.map(({ reason, answer }) => [reason, answer]), [["max_iterations", "best"]]);
  assert.deepEqual(differences(recording, await replay(recording)), []);
});

Deno.test("replayProvider() ends where the provider had failed for good", async () => {
  const error = new ProviderError("Cannot sign in", { code: "auth", retryable: false });
  const recording = await record([replyJson("1"), error], { requests: [["Try"]] });
  assert.equal(recording.queries[0]?.reason, "provider");
  assert.deepEqual(differences(recording, await replay(recording)), []);
});

Deno.test("replayProvider() judges by the recorded schema and sends the recorded images", async () => {
  const given: Partial<AskOptions> = {
    responseSchema: { type: "integer" },
    images: [{ kind: "url", url: "https://example.org/a.png" }],
  };
  const recording = await record([replyJson([], { final: "many" }), replyJson([], { final: "3" })], {
    requests: [["How many?", given]],
    scripted: { capabilities: { images: true } },
  });
  const played = await replay(recording);
  assert.deepEqual(differences(recording, played), []);
  assert.deepEqual(played.queries[0]?.images, given.images);
});

Deno.test("replayProvider() plays plain calls and sub-queries of blocks", async () => {
  const provider = oracleProvider({
    iteration: ({ asked, number }) => {
      if (asked !== "start") return replyJson(`await answer("child of ${asked} in ${number}")`);
      return replyJson(`const all = await rlm.askAll(["a", "b"])
        const one = await rlm.run("count"); const two = await rlm.run("sum")
        await answer([...all, one, two].join())`);
    },
    plain: (prompt) => `plain ${prompt}`,
  });
  const recording = await record([], { requests: [["start"]], provider, extensions: [rlm] });
  assert.match(recording.queries[0]?.answer ?? "", /^plain a,plain b,child of count in 1,/);
  const played = await replay(recording, { extensions: [rlm] });
  assert.deepEqual(differences(recording, played), []);
  assert.equal(played.queries[0]?.iterations[0]?.children.length, 2);
});

Deno.test("replayProvider() refuses a call that the recording has no reply for", async () => {
  const recording = await record([replyJson([], { final: "a" })], { requests: [["Try"]] });
  const [query] = recording.queries;
  assert.ok(query);
  const played = await replay({ ...recording, queries: [{ ...query, iterations: [] }] });
  assert.equal(played.queries[0]?.reason, "provider");
  assert.match(played.queries[0]?.answer ?? "", /the recording has no reply for it/);
});

Deno.test("replayProvider() describes itself", () => {
  const provider = replayProvider(
    new Playback({ conversationId: "", title: "", workspace: "", createdAt: 0, queries: [] }),
  );
  assert.deepEqual([provider.name, provider.defaultModel], ["replay", "recording"]);
});

Deno.test("replayProvider() a query that was cancelled is compared as far as it came", async () => {
  const controller = new AbortController();
  await using engine = await startEngine([replyJson("1"), () => {
    queueMicrotask(() => controller.abort());
    return { text: "", delayMs: 60_000 };
  }]);
  await engine.ask("Try", { signal: controller.signal });
  const recording = await engine.conversations.recording(engine.branch);
  assert.equal(recording.queries[0]?.reason, "cancelled");
  assert.deepEqual(differences(recording, await replay(recording)), []);
});

Deno.test("replayProvider() plays with the given context, small and large, text and JSON", async () => {
  const given = (text: string, json = false): Partial<AskOptions> => ({
    context: {
      label: "it",
      json,
      pieces: (async function* () {
        yield await Promise.resolve(new TextEncoder().encode(text));
      })(),
    },
  });
  const large = `${"x".repeat(3 << 20)}needle`;
  const replies = [
    replyJson("context.length", { final: "{{context.length}}" }),
    replyJson("const last = context.slice(-6)", { final: "{{last}}" }),
    replyJson("const kept = context.length", { final: "{{kept}}" }),
    replyJson("const rows = context.rows.length", { final: "{{rows}}" }),
  ];
  const requests = [["a", given("few")], ["b", given(large)], ["c"], ["d", given('{"rows": [1, 2]}', true)]] as const;
  await using engine = await startEngine(replies);
  for (const [request, options] of requests) await send(engine, request, options);
  const recording = await engine.conversations.recording(engine.branch);
  assert.deepEqual(recording.queries.map(({ context }) => context?.json ?? null), [false, false, null, true]);
  const played = await replay(recording);
  assert.deepEqual(differences(recording, played), []);
  assert.deepEqual(played.queries.map(({ answer }) => answer), ["3", "needle", `${large.length}`, "2"]);
});

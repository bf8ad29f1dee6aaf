import assert from "node:assert/strict";
import web from "../../extensions/web/mod.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "../../src/domain/query/approval.ts";
import { ProviderError } from "../../src/domain/errors.ts";
import { compareRecordings, Playback } from "../../src/domain/records/recording.ts";
import { replayProvider } from "../../src/providers/replay.ts";
import { type Engine, type EngineOptions, startEngine } from "../helpers/engine.ts";
import { oracleProvider, type OracleScript } from "../helpers/oracle_provider.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

const PAGE = { title: "Deno 2.9", url: "https://deno.com/blog/v2.9" };
const FOUND = { text: "Deno 2.9 is out.", sources: [PAGE], usage: { input: 1000, output: 100, searches: 2 } };
const CODE = "const found = await web.search('newest Deno'); answer(found.text + ' ' + found.sources[0].url)";
const price = { input: 1, output: 1, cached: 1, search: 0.01 };

function search(script: Partial<OracleScript>, options: EngineOptions = {}): Promise<Engine> {
  const provider = oracleProvider({
    iteration: () => replyJson(CODE),
    plain: () => FOUND,
    capabilities: { search: true, price },
    ...script,
  });
  return startEngine([], { extensions: [web], provider, ...options });
}

function user(decision: ApprovalAnswer["decision"]) {
  const asked: ApprovalQuestion[] = [];
  return {
    asked,
    approve: (question: ApprovalQuestion) => {
      asked.push(question);
      return Promise.resolve({ decision, reason: "" });
    },
  };
}

Deno.test("web.search() makes one model call that searches, and the request counts its tokens and the price of its searches", async () => {
  const searched: unknown[] = [];
  const provider = oracleProvider({
    iteration: () => replyJson(CODE),
    plain: (prompt) => {
      searched.push(prompt);
      return FOUND;
    },
    capabilities: { search: true, price },
  });
  await using engine = await search({}, { provider });
  const { asked, approve } = user("once");
  const result = await engine.ask("Which Deno is the newest?", { approve });
  assert.equal(result.answer, `Deno 2.9 is out. ${PAGE.url}`);
  assert.deepEqual(searched, ["Search the web for: newest Deno"]);
  assert.deepEqual(provider.requests.map((one) => one.search), [false, true]);
  assert.deepEqual(asked.map(({ what, scope }) => [what, scope]), [
    ['search the web, by scripted, for "newest Deno"', "searches of the web"],
  ]);
  const [iteration] = await engine.store.iterations(result.queryId);
  const [call, ...others] = await engine.store.subCalls(iteration!.iterationId);
  assert.deepEqual([others.length, call?.usage.searches, result.usage.searches], [0, 2, 2]);
  assert.deepEqual(JSON.parse(call?.reply ?? ""), { text: FOUND.text, sources: [PAGE] });
  const tokens = (result.usage.input + result.usage.output) / 1e6;
  assert.ok(Math.abs((result.costUsd ?? 0) - tokens - 0.02) < 1e-9, String(result.costUsd));
  const events = engine.events.filter((event) => event.type === "host_call" && event.name === "web.search");
  assert.deepEqual(
    events.map((event) =>
      event.type === "host_call" && [event.phase, event.action?.done, event.action?.subject, event.outcome]
    ),
    [["start", "searched the web:", "newest Deno", undefined], ["end", "searched the web:", "newest Deno", "1 source"]],
  );
});

Deno.test("web.search(): an answer for the conversation allows other queries, and equal searches cost one call", async () => {
  let calls = 0;
  const code =
    "const both = await Promise.all([web.search('a'), web.search('a')]); await web.search('b'); answer(both.length)";
  await using engine = await search({
    iteration: () => replyJson(code),
    plain: () => (calls++, FOUND),
  });
  const { asked, approve } = user("conversation");
  assert.equal((await engine.ask("Search", { approve })).answer, "2");
  assert.deepEqual([asked.length, calls], [1, 2]);
});

Deno.test("web.search() is refused without a user and in the locked profile, and makes no model call", async () => {
  for (const approvals of ["ask", "never", "locked"] as const) {
    let calls = 0;
    await using engine = await search({
      iteration: () => replyJson("answer(await web.search('x').catch((error) => error.message))"),
      plain: () => (calls++, FOUND),
    }, { settings: { approvals } });
    const { answer } = await engine.ask("Search");
    assert.match(
      answer,
      /^Cannot search the web: searches are not allowed \(.*\); the user allows them with/,
      approvals,
    );
    assert.equal(calls, 0);
  }
});

Deno.test("web.search() reports a refusal of the service, an answer from memory and a limit of the request", async () => {
  const outcome = async (plain: OracleScript["plain"], options: EngineOptions = {}) => {
    const code =
      "answer(await web.search('x').then(() => 'found', (error) => error.message + ' | ' + (error.hint ?? '')))";
    await using engine = await search({ iteration: () => replyJson(code), ...plain ? { plain } : {} }, options);
    return (await engine.ask("Search", { approve: user("once").approve })).answer;
  };
  const refused = new ProviderError("Cannot send the request: it refused web search with status 400", {
    code: "server",
    retryable: false,
    status: 400,
  });
  assert.match(
    await outcome(() => refused),
    /^Cannot send the request: it refused web search with status 400.*the user can allow web search in the account of the service/,
  );
  assert.match(
    await outcome(() => ({ text: "I remember Deno 2.0." })),
    /^Cannot use the reply: the model script did not search \(I remember Deno 2\.0\./,
  );
  assert.match(
    await outcome(() => ({ ...FOUND, finish: "pause_turn" })),
    /^Cannot use the reply: the service paused its search/,
  );
  const limits = { costUsd: null, tokens: null, wallMs: null, subcalls: 0 };
  assert.match(await outcome(undefined, { settings: { limits } }), /^Cannot start another sub-call or sub-query/);
});

Deno.test("web.search() ends with its request, and a cost limit counts the price of searches", async () => {
  const controller = new AbortController();
  await using engine = await search({
    plain: () => {
      controller.abort();
      return { ...FOUND, delayMs: 60_000 };
    },
  });
  const { status, reason } = await engine.ask("Search", { approve: user("once").approve, signal: controller.signal });
  assert.deepEqual([status, reason], ["interrupted", "cancelled"]);
  let calls = 0;
  const code = "const all = []; for (const word of ['a', 'b', 'c', 'd']) " +
    "all.push(await web.search(word).then(() => 1, (error) => error.message)); answer(JSON.stringify(all))";
  await using limited = await search({ iteration: () => replyJson(code), plain: () => (calls++, FOUND) }, {
    settings: { limits: { costUsd: 0.03, tokens: null, wallMs: null } },
  });
  const { answer } = await limited.ask("Search", { approve: user("conversation").approve });
  assert.equal(calls, 2);
  assert.match(answer, /cost limit of \$0\.03/);
});

Deno.test("a replay has the text and the sources of a recorded search, and calls no service", async () => {
  await using engine = await search({});
  await engine.ask("Which Deno is the newest?", { approve: user("once").approve });
  const recording = await engine.conversations.recording(engine.branch);
  const playback = new Playback(recording);
  await using again = await startEngine([], { extensions: [web], provider: replayProvider(playback) });
  playback.begin(0);
  const { answer, usage } = await again.ask("Which Deno is the newest?", { approve: user("once").approve });
  assert.deepEqual([answer, usage.searches], [`Deno 2.9 is out. ${PAGE.url}`, 1]);
  const [played] = (await again.conversations.recording(again.branch)).queries;
  assert.deepEqual(compareRecordings(recording.queries[0]!, played!), []);
});

Deno.test("the prompt of a request names web.search only if a model of the request searches", async () => {
  for (const searches of [true, false]) {
    const provider = oracleProvider({
      iteration: () => replyJson([], { final: "hi" }),
      capabilities: { search: searches },
    });
    await using engine = await startEngine([], { extensions: [web], provider });
    await engine.ask("Hello");
    assert.equal(provider.requests[0]?.texts.join("\n").includes("web.search"), searches);
  }
});

import assert from "node:assert/strict";
import rlm from "../../extensions/rlm/mod.ts";
import { ProviderError } from "../../src/domain/errors.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import { type EngineOptions, startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { final, replyJson, type ScriptedOptions, scriptedProvider } from "../helpers/scripted_provider.ts";

const PRICE = { input: 1, output: 2, cached: 1 };
const LIMITS = { costUsd: 1, tokens: null, wallMs: null };
const signal = new AbortController().signal;
const emit = (_event: QueryEvent): void => {};

/** Starts an engine whose queries may cost a dollar, with a root model of known price and another service without
 * prices. */
async function limited({ root = { price: PRICE }, ...options }: EngineOptions & {
  readonly root?: ScriptedOptions["capabilities"];
} = {}) {
  const other = scriptedProvider([], { name: "other", model: "secret", otherwise: final("unpriced") });
  const engine = await startEngine([], {
    scripted: { capabilities: root, otherwise: final("priced") },
    routes: [{ provider: other, model: "secret" }],
    settings: { limits: LIMITS },
    ...options,
  });
  return { engine, other, [Symbol.asyncDispose]: () => engine.close() };
}

Deno.test("a limit of the cost refuses a model with an unknown price before anything is stored or called", async () => {
  await using talk = await limited();
  const { engine, other } = talk;
  const ask = (model?: string, limits?: Parameters<typeof engine.conversations.ask>[2]["limits"]) =>
    engine.conversations.ask(engine.branch, "count", { signal, emit, model, limits });
  await assert.rejects(ask("other/secret"), {
    name: "UsageError",
    message: "Cannot use secret with a limit of $1: its price is unknown, so Vis cannot limit its cost; set the " +
      "price of secret in providers[].models of config.jsonc (provider other), or choose a model with a known price " +
      "(vis models)",
  });
  await assert.rejects(ask("other/nope"), /^UsageError: Cannot use nope with a limit of \$1/);
  await assert.rejects(engine.conversations.check({ model: "other/secret" }), { name: "UsageError" });
  assert.deepEqual([other.requests.length, await engine.conversations.queries(engine.branch)], [0, []]);
  assert.equal((await ask()).answer, "priced");
});

Deno.test("a limit that a request brings, and a quota, need a known price as well; without either any model serves", async () => {
  await using talk = await limited({ root: {}, settings: {} });
  const { engine } = talk;
  const ask = (limits: { readonly costUsd: number | null; readonly priced?: boolean }) =>
    engine.conversations.ask(engine.branch, "count", { signal, emit, limits: { wallMs: null, ...limits } });
  await assert.rejects(ask({ costUsd: 0.5 }), /^UsageError: Cannot use script with a limit of \$0\.50: its price/);
  await assert.rejects(ask({ costUsd: null, priced: true }), /^UsageError: Cannot use script with a daily cost quota/);
  const { answer, costUsd } = await ask({ costUsd: null });
  assert.deepEqual([answer, costUsd], ["priced", null]);
});

Deno.test("with a limit of the cost, a model without a price is no fallback, and none by preference", async () => {
  const refused = new ProviderError("Cannot reach it", { code: "refused", retryable: false });
  await using talk = await limited({
    scripted: { capabilities: { price: PRICE, nativeReasoning: false }, otherwise: refused },
  });
  const { engine, other } = talk;
  const result = await engine.conversations.ask(engine.branch, "count", { signal, emit });
  assert.deepEqual([result.reason, other.requests.length], ["provider", 0]);
  await engine.conversations.ask(engine.branch, "count", { signal, emit, model: "intelligence" });
  assert.equal(other.requests.length, 0);
});

Deno.test("sub-calls and sub-queries keep to the limit of their query", async () => {
  await buildSandbox();
  const code = `const said = []
for (const call of [() => rlm.ask("x", { model: "other/secret" }), () => rlm.run("x", { model: "other/secret" })]) {
  try { said.push(await call()) } catch (error) { said.push(error.message) }
}`;
  await using talk = await limited({
    scripted: { capabilities: { price: PRICE }, otherwise: replyJson(code, { final: "{{said}}" }) },
    settings: { limits: LIMITS },
    extensions: [rlm],
  });
  const { engine, other } = talk;
  const branch = await engine.conversations.create({ title: "count", channel: "test", workspace: "/nowhere" });
  const { answer, reason } = await engine.conversations.ask(branch, "count", { signal, emit });
  assert.equal(reason, "answered");
  assert.equal(answer.match(/its price is unknown/g)?.length, 2, answer);
  assert.equal(other.requests.length, 0);
});

Deno.test("a cost that became unknown before still counts with its known part", async () => {
  const { Ledger } = await import("../../src/query/limits.ts");
  const ledger = Ledger.open(LIMITS, () => 0);
  const usage = { input: 1, output: 1, cached: 0, reasoning: 0, calls: 1 };
  ledger.count({ usage, costUsd: null });
  assert.equal(ledger.reached(), null);
  ledger.count({ usage, costUsd: 1.5 });
  assert.deepEqual([ledger.reached(), ledger.spent.costUsd], ["limit_cost", null]);
});

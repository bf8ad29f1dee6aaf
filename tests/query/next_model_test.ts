import assert from "node:assert/strict";
import type { Capabilities } from "../../src/providers/provider.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson, scriptedProvider, type ScriptedReply } from "../helpers/scripted_provider.ts";

function other(name: string, replies: readonly ScriptedReply[], capabilities: Partial<Capabilities>) {
  const provider = scriptedProvider(replies, { name, model: `${name}-1`, capabilities });
  return { provider, route: { provider, model: `${name}-1` } };
}

Deno.test("runQuery() lets the reply choose the model of the next iteration, and of that one only", async () => {
  const cheap = other("cheap", [replyJson("2")], { price: { input: 0.1, output: 0.1, cached: 0 } });
  const best = other("best", [replyJson("3")], { price: { input: 9, output: 9, cached: 0 }, nativeReasoning: true });
  await using engine = await startEngine([
    replyJson("1", { next: { model: "cost" } }),
    replyJson("4", { next: { model: "intelligence" } }),
    replyJson([], { final: "All four ran" }),
  ], { routes: [cheap.route, best.route], settings: { budget: 9 } });
  const { answer, reason } = await engine.ask("x");
  assert.deepEqual([answer, reason], ["All four ran", "answered"]);
  assert.deepEqual([cheap.provider.requests.length, best.provider.requests.length], [1, 1]);
  const served = engine.provider.requests.length;
  assert.equal(served, 3);
  assert.match(engine.context(1), /=> ?2|2 → 2|→ 2/);
});

Deno.test("runQuery() continues with another model in the middle of a query", async () => {
  const { ProviderError } = await import("../../src/domain/errors.ts");
  const away = new ProviderError("Cannot sign in", { code: "auth", retryable: false, status: 401 });
  const spare = other("spare", [replyJson([], { final: "{{n}}" })], {});
  await using engine = await startEngine([replyJson("const n = 42"), away], { routes: [spare.route] });
  const { answer, reason } = await engine.ask("x");
  assert.deepEqual([answer, reason], ["42", "answered"]);
});

import assert from "node:assert/strict";
import { startEngine } from "../helpers/engine.ts";
import { final, replyJson } from "../helpers/scripted_provider.ts";

const DAY_MS = 86_400_000;

Deno.test("a query forgets what the last ones did not change, whatever the clock said; comments and what is given keep", async () => {
  const clock = { now: 1_700_000_000_000 };
  await using engine = await startEngine([
    replyJson("const old = 1\n// Kept for long\nconst told = 2\nlet used = 3", { final: "made" }),
    replyJson("used = 4", { final: "used" }),
    final("looked"),
    final("and again"),
  ], { settings: { autoForgetAfter: 2 }, now: () => clock.now });
  const { conversations, branch, store } = engine;
  const scopes = async () => {
    const heads = await store.variables(branch.branchId);
    const names = (scope: string) => heads.flatMap((head) => head.scope === scope ? [head.name] : []).toSorted();
    return { live: names("live"), forgotten: names("forgotten") };
  };
  const ask = async (request: string): Promise<void> => {
    const pieces = (async function* () {
      yield await Promise.resolve(new TextEncoder().encode("words"));
    })();
    await conversations.ask(branch, request, {
      signal: new AbortController().signal,
      emit: () => {},
      ...(request === "1" || request === "4" ? { context: { label: "words", json: false, pieces } } : {}),
    });
    clock.now -= DAY_MS;
  };
  await ask("1");
  await ask("2");
  assert.deepEqual(await scopes(), { live: ["context", "old", "told", "used"], forgotten: [] });
  await ask("3");
  assert.deepEqual(await scopes(), { live: ["context", "old", "told", "used"], forgotten: [] });
  await ask("4");
  assert.deepEqual(await scopes(), { live: ["context", "told", "used"], forgotten: ["old"] });
});

import assert from "node:assert/strict";
import { StoreError } from "../../src/domain/errors.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Store } from "../../src/persistence/store.ts";
import { startEngine } from "../helpers/engine.ts";
import { replyJson } from "../helpers/scripted_provider.ts";

/** Returns a store whose iterations end as `end` does. The last one ends with its query. */
async function storeWith(end: (store: Store, ...args: Parameters<Store["endIteration"]>) => Promise<void>) {
  const store = await openStore({ path: ":memory:" });
  return new Proxy(store, {
    get(target, key) {
      if (key === "endIteration") return (...args: Parameters<Store["endIteration"]>) => end(target, ...args);
      if (key === "endQuery") {
        return async (...[id, how, last]: Parameters<Store["endQuery"]>) => {
          if (!last) return await target.endQuery(id, how);
          const both = { ...target, endIteration: () => target.endQuery(id, how, last) };
          return await end(both, last.iterationId, last.iteration);
        };
      }
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

Deno.test("runQuery() asks the model while the iteration before is stored, and shows nothing until it is", async () => {
  const asked = Promise.withResolvers<void>();
  const seen: string[] = [];
  const store = await storeWith(async (store, ...args) => {
    seen.push("storing");
    // The first end waits for the next call. If that call waited for it, the test would hang.
    if (!seen.includes("stored")) {
      await asked.promise;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await store.endIteration(...args);
    seen.push("stored");
  });
  const second = (): string => {
    seen.push("asked");
    asked.resolve();
    return replyJson([], { thinking: "so", final: "{{n}}" });
  };
  await using engine = await startEngine([replyJson("const n = 5"), second], { store });
  const result = await engine.ask("five?");
  assert.deepEqual([result.status, result.answer], ["done", "5"]);
  assert.deepEqual(seen, ["asked", "storing", "stored", "storing", "stored"]);
  const shown = engine.events.map(({ type, iteration }) => `${iteration} ${type}`);
  const last = shown.slice(shown.indexOf("1 iteration_finished") + 1);
  assert.deepEqual([...new Set(last)].filter((line) => line !== "2 nudge"), [
    "2 iteration_started",
    "2 thinking",
    "2 answer_draft",
    "2 usage",
    "2 iteration_finished",
    "2 answer_delta",
    "null final",
  ]);
  assert.ok(!shown.slice(0, shown.indexOf("1 iteration_finished")).some((line) => line.startsWith("2")), String(shown));
});

Deno.test("runQuery() ends the call that is under way when the iteration before it cannot be stored", async () => {
  const asked = Promise.withResolvers<void>();
  const store = await storeWith(async () => {
    await asked.promise;
    throw new StoreError("Cannot write the database: it is full", "full");
  });
  let before = 0;
  const late = () => {
    before = engine.provider.aborted;
    asked.resolve();
    return { text: replyJson([], { final: "never" }), delayMs: 60_000 };
  };
  await using engine = await startEngine([replyJson("const n = 5"), late], { store });
  await assert.rejects(engine.ask("five?"), { name: "StoreError", message: /it is full/ });
  assert.equal(engine.provider.aborted - before, 1);
  const [query] = await engine.store.queries(engine.branch.branchId);
  assert.deepEqual([query?.status, query?.reason], ["error", "unstored"]);
  assert.match(query?.answer ?? "", /^No answer: Vis could not use the database after 1 step/);
  const last = engine.events.at(-1);
  assert.ok(last?.type === "failed" && last.result.notes.at(-1) === "Cannot write the database: it is full");
  assert.deepEqual(engine.events.filter(({ iteration }) => iteration === 2), []);
});

Deno.test("runQuery() gives the answer when its last iteration cannot be stored, but is not done", async () => {
  const store = await storeWith(() => Promise.reject(new StoreError("Cannot write the database: it is full", "full")));
  await using engine = await startEngine([replyJson("const n = 5", { final: "{{n}}" })], { store });
  const { status, reason, answer, notes } = await engine.ask("five?");
  assert.deepEqual([status, reason, answer, notes.at(-1)], [
    "error",
    "unstored",
    "5",
    "Cannot write the database: it is full",
  ]);
  const [query] = await engine.store.queries(engine.branch.branchId);
  assert.deepEqual([query?.running, query?.status, query?.reason], [false, "error", "unstored"]);
  assert.deepEqual(await engine.store.variables(engine.branch.branchId), []);
  assert.deepEqual(engine.events.at(-1)?.type, "failed");
  assert.ok(!engine.events.some(({ type }) => type === "final" || type === "answer_delta"));
});

Deno.test("runQuery() waits for its writes when it is cancelled meanwhile", async () => {
  const stop = new AbortController();
  const store = await storeWith(async (store, ...args) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    await store.endIteration(...args);
  });
  const late = () => {
    stop.abort();
    return { text: "", delayMs: 60_000 };
  };
  await using engine = await startEngine([replyJson("const n = 5"), late], { store });
  const result = await engine.ask("five?", { signal: stop.signal });
  assert.deepEqual([result.status, result.reason], ["interrupted", "cancelled"]);
  const stored = await engine.store.iterations(result.queryId);
  assert.deepEqual(stored.map(({ status }) => status), ["done"]);
  const ends = engine.events.map(({ type }) => type).filter((type) => /finished|cancelled/.test(type));
  assert.deepEqual(ends, ["block_finished", "iteration_finished", "cancelled"]);
});

/** The first block is sent before its iteration has a row, and its calls wait for the row. */
import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import { StoreError } from "../../src/domain/errors.ts";
import { openStore } from "../../src/persistence/open_store.ts";
import type { Store } from "../../src/persistence/store.ts";
import { startEngine } from "../helpers/engine.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { until } from "../helpers/until.ts";
import { inPlace } from "./_place.ts";

type Methods = Partial<Pick<Store, "beginIteration" | "endIteration" | "endQuery">>;

function changed(store: Store, methods: (own: Store) => Methods): Store {
  const other = methods(store);
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(other, name)) return Reflect.get(other, name);
      const own: unknown = Reflect.get(target, name, target);
      return typeof own === "function" ? own.bind(target) : own;
    },
  });
}

const FULL = new StoreError("Cannot use the database: the disk is full", "full");
const WRITE = "const made = (await fs.writeFile('made.txt', 'x')).path";

async function files(workspace: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(workspace))).map(({ name }) => name);
}

Deno.test("a host call of the first block has no effect before its iteration has a row", async () => {
  await buildSandbox();
  await inPlace(async ({ path, workspace }) => {
    const gate = Promise.withResolvers<void>();
    const store = changed(await openStore({ path }), (own) => ({
      beginIteration: async (row) => {
        await gate.promise;
        return await own.beginIteration(row);
      },
    }));
    await using engine = await startEngine([replyJson(WRITE, { final: "{{made}}" })], {
      store,
      workspace,
      extensions: [fs],
    });
    const asked = engine.ask("write");
    await until(() => engine.events.some(({ type }) => type === "host_call"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.deepEqual(await files(workspace), []);
    gate.resolve();
    assert.equal((await asked).answer, "made.txt");
    assert.deepEqual(await files(workspace), ["made.txt"]);
  });
});

Deno.test("a disk that is full when the row is to be stored ends the query with a StoreError, and nothing was done", async () => {
  await buildSandbox();
  await inPlace(async ({ path, workspace }) => {
    let full = true;
    const own = await openStore({ path });
    const store = changed(own, () => ({
      beginIteration: (row) => full ? Promise.reject(FULL) : own.beginIteration(row),
    }));
    const replies = [replyJson([WRITE, WRITE]), replyJson(WRITE, { final: "{{made}}" })];
    await using engine = await startEngine(replies, { store, workspace, extensions: [fs] });
    await assert.rejects(engine.ask("write"), (error) => error === FULL);
    assert.deepEqual(await files(workspace), []);
    const [query] = await store.queries(engine.branch.branchId);
    assert.deepEqual([query?.running, query?.reason, query?.usage.calls], [false, "unstored", 1]);
    assert.deepEqual(await store.iterations(query?.queryId ?? ""), []);
    assert.deepEqual((await store.variables(engine.branch.branchId)).map(({ name }) => name), []);
    full = false;
    assert.equal((await engine.ask("again")).answer, "made.txt");
    assert.equal(engine.context(1).match(/^.*made.*$/gm), null, "the index has nothing that the store has not");
  });
});

Deno.test("a query whose end could not be stored is ended when the next one begins", async () => {
  await buildSandbox();
  await inPlace(async ({ path, workspace }) => {
    let full = true;
    const own = await openStore({ path });
    const store = changed(own, () => ({
      endIteration: (id, end) => full ? Promise.reject(FULL) : own.endIteration(id, end),
      endQuery: (...args) => full ? Promise.reject(FULL) : own.endQuery(...args),
    }));
    const replies = [
      replyJson("const a = 1", { thinking: "paid" }),
      // The model gets this call while the first iteration is stored, and its reply is not used.
      replyJson([], { final: "never" }),
      replyJson("const b = typeof a", { final: "{{b}}" }),
    ];
    await using engine = await startEngine(replies, { store, workspace });
    await assert.rejects(engine.ask("first"), (error) => error === FULL);
    assert.equal((await store.queries(engine.branch.branchId))[0]?.running, true);
    full = false;
    assert.equal((await engine.ask("second")).answer, "undefined");
    assert.match(engine.context(2), /It ended while this block ran[\s\S]*const a = 1/);
    const queries = await store.queries(engine.branch.branchId);
    assert.deepEqual(queries.map(({ running, status }) => [running, status]), [[false, "interrupted"], [
      false,
      "done",
    ]]);
    const [cut] = await store.iterations(queries[0]?.queryId ?? "");
    assert.deepEqual([cut?.status, cut?.thinking, cut?.metadata.pendingBlocks], ["interrupted", "paid", [
      "const a = 1",
    ]]);
  });
});

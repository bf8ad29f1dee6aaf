import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "../../../src/persistence/open_store.ts";
import { begun, iterate } from "../../conformance/store/fixtures.ts";
import { withDatabasePath } from "../_temp_database.ts";

/** Stores many states at once, which would take seconds with the store. */
function fill(
  path: string,
  what: { readonly branchId: string | null; readonly keys: number; readonly versions: number },
) {
  using db = new DatabaseSync(path);
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1),
     made AS (SELECT 'id' || i AS id, ? AS branch, 'k' || (i / CAST(? AS INTEGER)) AS key,
       1 + i % CAST(? AS INTEGER) AS version, i AS at FROM n)
     INSERT INTO extension_state
       (id, namespace, conversation_state_id, position, key, version, value, created_at, tenant)
     SELECT id, 'test.a', branch, -1, key, version, '1', at, iif(branch IS NULL, 'default', NULL) FROM made`,
  ).run(what.keys * what.versions, what.branchId, what.versions, what.versions);
}

Deno.test("states: one place has at most 10 000 keys, and existing keys can still change", () =>
  withDatabasePath(async (path) => {
    await (await openStore({ path })).close();
    fill(path, { branchId: null, keys: 10_000, versions: 1 });
    const store = await openStore({ path });
    const place = { namespace: "test.a", branchId: null };
    try {
      await assert.rejects(store.states.put(place, { key: "new", value: 1 }), {
        name: "UsageError",
        message: "Cannot store another state of test.a: it has 10000 keys, the limit; delete some keys",
      });
      assert.equal(await store.states.put(place, { key: "k7", value: 2 }), 2);
      assert.equal(await store.states.put({ ...place, namespace: "test.b" }, { key: "new", value: 1 }), 1);
      assert.equal(await store.states.delete(place, "k8"), true);
      assert.equal(await store.states.put(place, { key: "new", value: 1 }), 1);
      assert.equal((await store.states.list(place, { limit: 20_000 })).length, 10_000);
    } finally {
      await store.close();
    }
  }));

Deno.test("states: the last 1000 versions of a key are kept, but all of them where a fork may need one", () =>
  withDatabasePath(async (path) => {
    const before = await openStore({ path });
    const [plain, forked] = [await begun(before, { text: "plain" }), await begun(before, { text: "forked" })];
    await iterate(before, { queryId: forked.queryId, position: 0, blocks: [] });
    const fork = await before.fork({ queryId: forked.queryId, position: 0 });
    const iterationId = await iterate(before, { queryId: forked.queryId, position: 1, blocks: [] });
    await before.close();
    for (const [branchId, kept] of [[plain.branchId, 1000], [forked.branchId, 1001]] as const) {
      fill(path, { branchId, keys: 1, versions: 1000 });
      const store = await openStore({ path });
      const place = { namespace: "test.a", branchId, ...(branchId === forked.branchId ? { iterationId } : {}) };
      try {
        assert.equal(await store.states.put(place, { key: "k0", value: "new" }), 1001);
        const history = await store.states.history(place, { key: "k0", limit: 2000 });
        assert.deepEqual([history.length, history[0]?.value], [kept, "new"]);
        if (branchId === forked.branchId) {
          const seen = await store.states.get({ ...place, branchId: fork.branchId }, { key: "k0" });
          assert.equal(seen?.value, 1);
        }
      } finally {
        await store.close();
      }
      using db = new DatabaseSync(path);
      db.exec("DELETE FROM extension_state");
    }
  }));

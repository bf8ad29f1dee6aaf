import assert from "node:assert/strict";
import { BusyError } from "../../../src/domain/errors.ts";
import type { Branch, Store } from "../../../src/persistence/store.ts";
import { newQuery, queryEnd } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const DAY_MS = 24 * 3_600_000;

const make = (store: Store): Promise<Branch> =>
  store.createConversation({ title: "t", channel: "test", workspace: "/w" });

async function keyed(store: Store, branch: Branch, key = "k"): Promise<string> {
  const { branchId } = branch;
  const requestKey = { branchId, key, fingerprint: `of ${key}` };
  const queryId = await store.beginQuery({ ...newQuery(branchId, "q"), requestKey });
  await store.endQuery(queryId, queryEnd());
  return queryId;
}

export const storeRequestKeyCases: readonly StoreCase[] = [
  {
    name: "keyedQuery() finds the query of a key, by branch, for a day",
    async run(store, clock) {
      const [branch, other] = [await make(store), await make(store)];
      assert.equal(await store.keyedQuery(branch.branchId, "k"), null);
      const queryId = await keyed(store, branch);
      assert.deepEqual(await store.keyedQuery(branch.branchId, "k"), { queryId, fingerprint: "of k" });
      assert.equal(await store.keyedQuery(branch.branchId, "K"), null);
      assert.equal(await store.keyedQuery(other.branchId, "k"), null);
      clock.now += DAY_MS - 1;
      assert.equal((await store.keyedQuery(branch.branchId, "k"))?.queryId, queryId);
      clock.now += 1;
      assert.equal(await store.keyedQuery(branch.branchId, "k"), null);
      const again = await keyed(store, branch);
      assert.equal((await store.keyedQuery(branch.branchId, "k"))?.queryId, again, "the key is free after its day");
    },
  },
  {
    name: "beginQuery() begins nothing for a key that began something",
    async run(store) {
      const branch = await make(store);
      const queryId = await keyed(store, branch);
      await assert.rejects(keyed(store, branch), BusyError);
      assert.deepEqual((await store.queries(branch.branchId)).map((query) => query.queryId), [queryId]);
      assert.equal((await store.keyedQuery(branch.branchId, "k"))?.queryId, queryId);
    },
  },
  {
    name: "beginQuery() continues the request of a key once: the key means its last query, from any branch",
    async run(store, clock) {
      const branch = await make(store);
      const queryId = await keyed(store, branch);
      const { branchId } = await store.fork({ queryId, position: null });
      const continued = (replaces: string, at: string): Promise<string> => {
        const requestKey = { branchId: at, key: "k", fingerprint: "of k", replaces };
        return store.beginQuery({ ...newQuery(at, "q"), requestKey });
      };
      clock.now += DAY_MS - 1;
      const second = await continued(queryId, branchId);
      await store.endQuery(second, queryEnd());
      for (const at of [branch.branchId, branchId]) {
        assert.deepEqual(await store.keyedQuery(at, "k"), { queryId: second, fingerprint: "of k" });
        await assert.rejects(continued(queryId, at), BusyError);
      }
      assert.equal((await store.queries(branch.branchId)).length, 1, "nothing was begun");
      clock.now += DAY_MS - 1;
      assert.equal((await store.keyedQuery(branchId, "k"))?.queryId, second, "its day begins again");
    },
  },
  {
    name: "keyedQuery() knows a key of a moment that is to come, since the clock was set back",
    async run(store, clock) {
      const branch = await make(store);
      const queryId = await keyed(store, branch);
      clock.now -= 3 * DAY_MS;
      assert.equal((await store.keyedQuery(branch.branchId, "k"))?.queryId, queryId);
      await keyed(store, branch, "another");
      assert.equal((await store.keyedQuery(branch.branchId, "k"))?.queryId, queryId);
    },
  },
  {
    name: "keyedQuery() finds a key from every branch of its conversation",
    async run(store) {
      const branch = await make(store);
      const queryId = await keyed(store, branch);
      const fork = await store.fork({ queryId, position: null });
      assert.equal((await store.keyedQuery(fork.branchId, "k"))?.queryId, queryId);
      await assert.rejects(keyed(store, fork), BusyError);
    },
  },
  {
    name: "keyedQuery() a key goes with its conversation",
    async run(store) {
      const branch = await make(store);
      await keyed(store, branch);
      await store.deleteConversation(branch.conversationId);
      assert.equal(await store.keyedQuery(branch.branchId, "k"), null);
    },
  },
  {
    name: "labelUse() counts and sums queries since a moment, by label",
    async run(store, clock) {
      const { branchId } = await make(store);
      const begin = async (runLabel: string | null, costUsd: number | null): Promise<void> => {
        const id = await store.beginQuery(newQuery(branchId, "q", { runLabel }));
        await store.endQuery(id, queryEnd({ costUsd }));
        clock.now += 1;
      };
      await begin("a", 9);
      const since = clock.now;
      await begin("a", 0.25);
      await begin("a", 0.5);
      await begin("b", null);
      await begin(null, 7);
      const found = await store.labelUse(since);
      assert.deepEqual(found.toSorted((one, two) => one.label < two.label ? -1 : 1), [
        { label: "a", queries: 2, costUsd: 0.75 },
        { label: "b", queries: 1, costUsd: 0 },
      ]);
      assert.deepEqual(await store.labelUse(clock.now), []);
    },
  },
];

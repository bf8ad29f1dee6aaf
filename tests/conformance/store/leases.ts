import assert from "node:assert/strict";
import { BusyError } from "../../../src/domain/errors.ts";
import { begun, iterate, newQuery, OWNER, queryEnd } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const OTHER = { host: "elsewhere", space: "boot 2", pid: 12, started: "7", session: 0 };

/** Two minutes without a sign of life, and one more moment. */
const SILENCE_MS = 120_001;

/** The stores of the suite cannot see any process, so leases alone decide. */
export const storeLeaseCases: readonly StoreCase[] = [
  {
    name: "beginQuery() refuses a branch that another process works on, until that one ends its query",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const query = newQuery(branchId, "second", { owner: OTHER });
      await assert.rejects(store.beginQuery(query), (error) => {
        assert.ok(error instanceof BusyError);
        assert.match(
          error.message,
          /^Cannot start the request: another process \(4711 on here\) runs another request in this conversation; wait until that request ends, or cancel it$/,
        );
        return true;
      });
      assert.equal((await store.queries(branchId)).length, 1);
      await store.endQuery(queryId, queryEnd());
      const second = await store.beginQuery(query);
      await assert.rejects(store.beginQuery(newQuery(branchId, "third")), BusyError);
      assert.equal((await store.query(second))?.running, true);
    },
  },
  {
    name: "beginQuery() takes a branch from a process that fell silent, and ends its query as lost",
    async run(store, clock) {
      const { branchId, queryId } = await begun(store);
      await iterate(store, { queryId, position: 0, blocks: [] });
      clock.now += SILENCE_MS;
      const second = await store.beginQuery(newQuery(branchId, "second", { owner: OTHER }));
      const [first] = await store.queries(branchId);
      assert.deepEqual([first?.queryId, first?.running, first?.reason], [queryId, false, "process_lost"]);
      assert.equal((await store.query(second))?.running, true);
    },
  },
  {
    name: "renewLeases() keeps exactly the branches of its process",
    async run(store, clock) {
      const mine = await begun(store), theirs = await begun(store);
      await store.endQuery(theirs.queryId, queryEnd());
      await store.beginQuery(newQuery(theirs.branchId, "theirs", { owner: OTHER }));
      clock.now += SILENCE_MS;
      await store.renewLeases(OWNER);
      await assert.rejects(store.beginQuery(newQuery(mine.branchId, "x", { owner: OTHER })), BusyError);
      await store.beginQuery(newQuery(theirs.branchId, "x"));
    },
  },
  {
    name: "sweepLost() uses the lease if it is unknown whether a process lives",
    async run(store, clock) {
      const { queryId } = await begun(store);
      assert.equal(await store.sweepLost(() => null), 0);
      clock.now += SILENCE_MS;
      await store.renewLeases(OWNER);
      assert.equal(await store.sweepLost(() => null), 0);
      clock.now += SILENCE_MS;
      assert.equal(await store.sweepLost(() => null), 1);
      assert.equal((await store.query(queryId))?.reason, "process_lost");
    },
  },
  {
    name: "renewLeases() returns the branches of its process, but not of another with the same number and name",
    async run(store, clock) {
      const mine = await begun(store), theirs = await begun(store);
      assert.deepEqual(new Set(await store.renewLeases(OWNER)), new Set([mine.branchId, theirs.branchId]));
      clock.now += SILENCE_MS;
      const alike = { ...OWNER, space: "another" };
      await store.beginQuery(newQuery(theirs.branchId, "theirs", { owner: alike }));
      assert.deepEqual(await store.renewLeases(OWNER), []);
      assert.deepEqual(await store.renewLeases(alike), [theirs.branchId]);
      await assert.rejects(store.beginQuery(newQuery(theirs.branchId, "x")), BusyError);
    },
  },
  {
    name: "a clock that jumps, either way, keeps the branches of a process that renews its leases, and of no other",
    async run(store, clock) {
      for (const jump of [86_400_000, -86_400_000, 400 * 86_400_000]) {
        const { branchId, queryId } = await begun(store);
        clock.now += jump;
        await store.renewLeases(OWNER);
        await assert.rejects(store.beginQuery(newQuery(branchId, "x", { owner: OTHER })), BusyError, `${jump}`);
        assert.equal(await store.sweepLost(() => null), 0);
        clock.now += jump;
        assert.equal(await store.sweepLost(() => null), 1, "nobody renews it");
        assert.equal((await store.query(queryId))?.reason, "process_lost");
      }
    },
  },
  {
    name: "a process lives for all of its queries, including sub-queries, or for none",
    async run(store, clock) {
      const { branchId, queryId } = await begun(store);
      clock.now += SILENCE_MS - 1000;
      const iterationId = await iterate(store, { queryId, position: 0, blocks: [] });
      const child = await store.createChildBranch({
        ...{ branchId, iterationId, depth: 1, title: "c", images: [], copies: [] },
      });
      await store.beginQuery(newQuery(child.branchId, "part"));
      clock.now += 2000;
      assert.equal(await store.sweepLost(() => null), 0);
      await assert.rejects(store.beginQuery(newQuery(branchId, "x", { owner: OTHER })), BusyError);
      clock.now += SILENCE_MS;
      assert.equal(await store.sweepLost(() => null), 2);
    },
  },
  {
    name: "a session of a process does not take a branch from another session of it",
    async run(store) {
      const { branchId } = await store.createConversation({ title: "t", channel: "c", workspace: "/w" });
      const queryId = await store.beginQuery(newQuery(branchId, "mine", { owner: { ...OWNER, session: 1 } }));
      const other = newQuery(branchId, "x", { owner: { ...OWNER, session: 2 } });
      await assert.rejects(store.beginQuery(other), BusyError);
      assert.deepEqual(await store.renewLeases({ ...OWNER, session: 2 }), []);
      assert.equal((await store.query(queryId))?.running, true);
      await store.beginQuery(newQuery(branchId, "y", { owner: { ...OWNER, session: 1 } }));
      assert.equal((await store.query(queryId))?.reason, "process_lost", "its own, which it could not end");
    },
  },
];

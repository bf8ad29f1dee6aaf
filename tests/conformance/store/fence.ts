import assert from "node:assert/strict";
import { BusyError, TakenOverError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { archiveOf } from "../../helpers/archive_of.ts";
import { begun, block, image, iterate, iterationEnd, newIteration, newQuery, queryEnd, USAGE } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const OTHER = { host: "here", space: "another", pid: 4711, started: "99", session: 0 };
const SILENCE_MS = 120_001;

/** Makes a query with an ended iteration, a running one and a sub-query. Its process has fallen silent. */
async function stopped(store: Store, clock: { now: number }) {
  const { branchId, conversationId, queryId } = await begun(store);
  const done = await iterate(store, { queryId, position: 0, blocks: [block("1", { saved: [image("a")] })] });
  const iterationId = await store.beginIteration(newIteration(queryId, 1, { blocks: ["2"] }));
  const at = { branchId, iterationId, depth: 1, title: "part", images: [], copies: [] };
  const child = await store.createChildBranch(at);
  const childId = await store.beginQuery(newQuery(child.branchId, "part"));
  const childIteration = await store.beginIteration(newIteration(childId, 0));
  clock.now += SILENCE_MS;
  return { branchId, conversationId, queryId, done, iterationId, childId, childIteration };
}

type Stopped = Awaited<ReturnType<typeof stopped>>;

function writes(store: Store, run: Stopped): Readonly<Record<string, () => Promise<unknown>>> {
  const { branchId, queryId, iterationId, childId, childIteration } = run;
  const end = iterationEnd([block("2", { saved: [image("b")] })], { scopes: { live: [], forgotten: ["a"] } });
  const failed = { error: "no reply", system: [], totals: end.totals, metadata: {} };
  const call = { provider: "p", model: "m", prompt: "x", reply: "y", error: null, usage: USAGE, costUsd: null, ms: 1 };
  const state = { namespace: "n", branchId, iterationId };
  const at = { branchId, iterationId, depth: 1, title: "part", images: [image("part")], copies: [] };
  return {
    beginIteration: () => store.beginIteration(newIteration(queryId, 2, { given: [image("context")] })),
    endIteration: () => store.endIteration(iterationId, end),
    failIteration: () => store.failIteration(newIteration(queryId, 2), failed),
    endQuery: () => store.endQuery(queryId, queryEnd()),
    "endQuery with its iteration": () =>
      store.endQuery(queryId, queryEnd(), { iterationId, iteration: iterationEnd([]) }),
    "endQuery cancelled": () => store.endQuery(queryId, queryEnd({ status: "interrupted", reason: "cancelled" })),
    setScope: () => store.setScope(branchId, { names: ["a"], scope: "forgotten", queryId }),
    recordSubCall: () => store.recordSubCall({ ...call, iterationId }),
    createChildBranch: () => store.createChildBranch(at),
    "states.put": () => store.states.put(state, { key: "k", value: 1 }),
    "states.put globally": () => store.states.put({ ...state, branchId: null }, { key: "k", value: 1 }),
    "states.put before the first iteration": () =>
      store.states.put({ namespace: "n", branchId, queryId }, { key: "k", value: 1 }),
    "states.delete": () => store.states.delete(state, "kept"),
    "endIteration of a sub-query": () => store.endIteration(childIteration, end),
    "endQuery of a sub-query": () => store.endQuery(childId, queryEnd()),
    "recordSubCall of a sub-query": () => store.recordSubCall({ ...call, iterationId: childIteration }),
  };
}

/** A process that takes over a branch ends the run in it. Later writes of that run are not stored. */
export const storeFenceCases: readonly StoreCase[] = [
  {
    name: "every write of a run is refused once another process has taken its branch over, and nothing of it is stored",
    async run(store, clock) {
      const run = await stopped(store, clock);
      const { branchId, conversationId, queryId } = run;
      await store.states.put({ namespace: "n", branchId }, { key: "kept", value: 1 });
      const next = await store.beginQuery(newQuery(branchId, "next", { owner: OTHER }));
      await iterate(store, { queryId: next, position: 0, blocks: [block("3", { saved: [image("c")] })] });
      const before = await archiveOf(store, conversationId);
      for (const [name, write] of Object.entries(writes(store, run))) {
        await assert.rejects(write(), (error) => {
          assert.ok(error instanceof TakenOverError && error instanceof BusyError, `${name}: ${error}`);
          assert.match(
            error.message,
            /^Cannot continue request [0-9a-f-]{36}: another process ended it or took it over/,
          );
          return true;
        });
        assert.deepEqual(await archiveOf(store, conversationId), before, name);
      }
      assert.equal(await store.states.get({ namespace: "n", branchId: null }, { key: "k" }), null);
      assert.equal((await store.query(queryId))?.reason, "process_lost");
      await store.endQuery(next, queryEnd());
      assert.equal((await store.query(next))?.status, "done", "the one that took over continues");
    },
  },
  {
    name: "a sweep fences as well, and writes of other runs in the same commit are stored",
    async run(store, clock) {
      const run = await stopped(store, clock);
      const mine = await begun(store);
      await store.renewLeases({ ...OTHER, pid: 1 });
      assert.equal(await store.sweepLost((owner) => owner.pid !== 4711), 3, "the run, its sub-query, and mine");
      const other = await store.createConversation({ title: "t", channel: "c", workspace: "/w" });
      const free = await store.beginQuery(newQuery(other.branchId, "free", { owner: OTHER }));
      const fenced = Object.values(writes(store, run));
      const [first, second, ...results] = await Promise.allSettled([
        store.beginIteration(newIteration(free, 0)),
        store.beginIteration(newIteration(mine.queryId, 0)),
        ...fenced.map((write) => write()),
        store.beginIteration(newIteration(free, 1)),
      ]);
      assert.equal(first.status, "fulfilled");
      assert.equal(second?.status, "rejected");
      assert.equal(results.pop()?.status, "fulfilled");
      assert.ok(results.every(({ status }) => status === "rejected"));
      assert.equal((await store.iterations(free)).length, 2);
    },
  },
  {
    name: "work that a run has ended itself does not concern another process",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const iterationId = await iterate(store, { queryId, position: 0, blocks: [] });
      await store.endQuery(queryId, queryEnd());
      await store.endQuery(queryId, queryEnd({ status: "error", reason: "defect" }));
      await store.states.put({ namespace: "n", branchId, iterationId }, { key: "late", value: 1 });
      const late = store.beginIteration(newIteration(queryId, 1));
      await assert.rejects(late, (error) => !(error instanceof TakenOverError) && /it has ended/.test(String(error)));
      assert.equal((await store.iterations(queryId)).length, 1);
    },
  },
  {
    name: "an answer that was stored before another process took over the branch is the answer for both",
    async run(store, clock) {
      const { branchId, queryId } = await begun(store);
      const metadata = { outcome: "final", answerType: "text", confidence: "high", answerNotes: [] };
      const system = [{ name: "$answer", text: "42" }];
      await iterate(store, { queryId, position: 0, blocks: [], system, metadata });
      clock.now += SILENCE_MS;
      await store.beginQuery(newQuery(branchId, "next", { owner: OTHER }));
      assert.deepEqual((await store.query(queryId))?.answer, "42");
      await store.endQuery(queryId, queryEnd({ answer: "42" }));
    },
  },
  {
    name: "previousTurn() names the run that a query came after, of whatever process",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const before = async (id: string) => (await store.previousTurn(branchId, id))?.queryId;
      assert.equal(await before(queryId), undefined);
      await store.endQuery(queryId, queryEnd());
      const second = await store.beginQuery(newQuery(branchId, "second", { owner: OTHER }));
      assert.equal(await before(second), queryId);
      await store.endQuery(second, queryEnd());
      const again = await store.beginQuery(newQuery(branchId, "second", { retryOf: second }));
      assert.equal(await before(again), queryId);
      await store.endQuery(again, queryEnd());
      assert.equal(await before(await store.beginQuery(newQuery(branchId, "third"))), again);
      assert.equal(await before("none"), again);
    },
  },
];

import assert from "node:assert/strict";
import type { Branch, IterationEnd, Store } from "../../../src/persistence/store.ts";
import { begun, block, image, iterate, newQuery, queryEnd, utf8 } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const defines = (name: string, text: string) =>
  block(`${name} = ${text}`, { saved: [image(name, { bytes: utf8(text) })] });

async function values(store: Store, branchId: string): Promise<Record<string, string>> {
  const images = await store.liveImages(branchId);
  return Object.fromEntries(images.map(({ name, bytes }) => [name, new TextDecoder().decode(bytes)]));
}

/** Makes one ended query of three iterations that set `a` each time and `b` in the last, then a second query that sets
 * `c`. */
async function history(store: Store): Promise<Branch & { readonly first: string; readonly second: string }> {
  const { queryId: first, ...branch } = await begun(store, { text: "first" });
  await iterate(store, { queryId: first, position: 0, blocks: [defines("a", "1")] });
  await iterate(store, { queryId: first, position: 1, blocks: [defines("a", "2")] });
  await iterate(store, { queryId: first, position: 2, blocks: [defines("a", "3"), defines("b", "3")] });
  await store.endQuery(first, queryEnd({ answer: "one", iterations: 3 }));
  const second = await store.beginQuery(newQuery(branch.branchId, "second"));
  await iterate(store, { queryId: second, position: 0, blocks: [defines("c", "4"), defines("a", "4")] });
  await store.endQuery(second, queryEnd({ answer: "two" }));
  return { ...branch, first, second };
}

export const storeForkCases: readonly StoreCase[] = [
  {
    name: "the id of a conversation means the branch with the newest run, or a newer fork, in every lookup",
    async run(store, clock) {
      const { conversationId, branchId, workspace, first } = await history(store);
      const isLastUsed = async (expected: string) => {
        const [listed] = await store.listConversations({ limit: 1 });
        const found = [
          await store.findConversation(conversationId),
          await store.findConversation(conversationId.slice(0, 30)),
          await store.latestConversation(workspace),
          listed,
        ];
        assert.deepEqual(found.map((one) => one?.branchId), [expected, expected, expected, expected]);
      };
      await isLastUsed(branchId);
      clock.now += 1;
      const fork = await store.fork({ queryId: first, position: 1 });
      const other = await store.fork({ queryId: first, position: 0 });
      await isLastUsed(other.branchId);
      clock.now += 1;
      const inFork = await store.beginQuery(newQuery(fork.branchId, "in the fork"));
      await isLastUsed(fork.branchId);
      await store.endQuery(inFork, queryEnd());
      clock.now += 1;
      const inFirst = await store.beginQuery(newQuery(branchId, "in the first"));
      await store.endQuery(inFirst, queryEnd());
      await isLastUsed(branchId);
      clock.now += 1;
      await store.beginQuery({ ...newQuery(fork.branchId, "in the fork"), retryOf: inFork });
      await isLastUsed(fork.branchId);
    },
  },
  {
    name: "fork() shows the variables as they were at any iteration, and leaves the branch it comes from alone",
    async run(store) {
      const { branchId, conversationId, first, second } = await history(store);
      const at = async (queryId: string, position: number | null) =>
        await values(store, (await store.fork({ queryId, position })).branchId);
      assert.deepEqual(await at(first, -1), {});
      assert.deepEqual(await at(first, 0), { a: "1" });
      assert.deepEqual(await at(first, 1), { a: "2" });
      assert.deepEqual(await at(first, null), { a: "3", b: "3" });
      assert.deepEqual(await at(second, -1), { a: "3", b: "3" });
      assert.deepEqual(await at(second, null), { a: "4", b: "3", c: "4" });
      assert.deepEqual(await values(store, branchId), { a: "4", b: "3", c: "4" });
      assert.equal((await store.branches(conversationId)).length, 7);
    },
  },
  {
    name: "a fork is independent: its versions continue the parent's, and neither sees the other's",
    async run(store) {
      const { branchId, first } = await history(store);
      const fork = await store.fork({ queryId: first, position: 1, title: "another way" });
      assert.equal(fork.title, "another way");
      const queryId = await store.beginQuery(newQuery(fork.branchId, "third"));
      await iterate(store, { queryId, position: 0, blocks: [{ ...defines("d", "9"), reads: ["a"] }] });
      await iterate(store, { queryId, position: 1, blocks: [defines("a", "7")] });
      assert.deepEqual(await values(store, fork.branchId), { a: "7", d: "9" });
      assert.deepEqual(await values(store, branchId), { a: "4", b: "3", c: "4" });
      const versions = await store.variableVersions(fork.branchId, "a");
      assert.deepEqual(versions.map(({ version, code }) => [version, code]), [[1, "a = 1"], [2, "a = 2"], [
        3,
        "a = 7",
      ]]);
      assert.deepEqual((await store.variableVersions(fork.branchId, "a", { newest: 2 })).map((v) => v.version), [2, 3]);
      const heads = await store.variables(fork.branchId);
      assert.deepEqual(heads.map(({ name, versions }) => [name, versions]), [["a", 3], ["d", 1]]);
    },
  },
  {
    name: "a fork of a fork sees the variables that its ancestors had at their forks",
    async run(store) {
      const { first } = await history(store);
      const fork = await store.fork({ queryId: first, position: 0 });
      const queryId = await store.beginQuery(newQuery(fork.branchId, "third"));
      await iterate(store, { queryId, position: 0, blocks: [defines("x", "1")] });
      await iterate(store, { queryId, position: 1, blocks: [defines("x", "2"), defines("a", "5")] });
      await store.endQuery(queryId, queryEnd());
      const again = await store.fork({ queryId, position: 0 });
      assert.deepEqual(await values(store, again.branchId), { a: "1", x: "1" });
      const back = await store.fork({ queryId: first, position: 1 });
      assert.deepEqual(await values(store, back.branchId), { a: "2" });
    },
  },
  {
    name: "queries() of the newest are the last of all, over a fork and a query that was run again",
    async run(store) {
      const { branchId, first, second } = await history(store);
      const fork = await store.fork({ queryId: first, position: 1 });
      await store.endQuery(await store.beginQuery(newQuery(fork.branchId, "third")), queryEnd());
      await store.beginQuery({ ...newQuery(branchId, "second"), retryOf: second });
      for (const one of [branchId, fork.branchId]) {
        const all = await store.queries(one);
        assert.equal(all.length, 2);
        for (let newest = 0; newest <= 3; newest++) {
          assert.deepEqual(await store.queries(one, { newest }), all.slice(Math.max(0, 2 - newest)));
        }
      }
    },
  },
  {
    name: "queries() and previousTurn() of a fork end with the query it was made in, as far as it had come",
    async run(store) {
      const { first } = await history(store);
      const fork = await store.fork({ queryId: first, position: 1 });
      const shown = await store.queries(fork.branchId);
      assert.deepEqual(shown.map(({ text, iterations, answer, status }) => [text, iterations, answer, status]), [
        ["first", 2, "", "interrupted"],
      ]);
      const queryId = await store.beginQuery(newQuery(fork.branchId, "third"));
      const before = await store.previousTurn(fork.branchId, queryId);
      assert.deepEqual([before?.text, before?.thinkings], ["first", ["thought 0", "thought 1"]]);
      assert.equal(before?.earlier.more, 0);
      assert.deepEqual(before?.earlier.shown.map(({ text, unfinished }) => [text, unfinished]), [["first", "forked"]]);
      assert.deepEqual((await store.queries(fork.branchId)).map(({ text }) => text), ["first", "third"]);
      const whole = await store.fork({ queryId: first, position: null });
      assert.deepEqual((await store.queries(whole.branchId)).map(({ answer }) => answer), ["one"]);
      const none = await store.fork({ queryId: first, position: -1 });
      assert.deepEqual(await store.queries(none.branchId), []);
      assert.equal(await store.previousTurn(none.branchId, await store.beginQuery(newQuery(none.branchId, "x"))), null);
    },
  },
  {
    name: "setScope() in a fork forgets an inherited variable there only, and a definition brings it back",
    async run(store) {
      const { branchId, second } = await history(store);
      const fork = await store.fork({ queryId: second, position: null });
      await store.setScope(fork.branchId, { names: ["a", "unknown"], scope: "forgotten" });
      assert.deepEqual(await values(store, fork.branchId), { b: "3", c: "4" });
      assert.deepEqual(await values(store, branchId), { a: "4", b: "3", c: "4" });
      const heads = await store.variables(fork.branchId);
      assert.equal(heads.find(({ name }) => name === "a")?.scope, "forgotten");
      assert.equal((await store.variableVersions(fork.branchId, "a")).length, 4);
      const queryId = await store.beginQuery(newQuery(fork.branchId, "third"));
      await iterate(store, { queryId, position: 0, blocks: [defines("a", "8")] });
      assert.deepEqual(await values(store, fork.branchId), { a: "8", b: "3", c: "4" });
      assert.equal((await store.variableVersions(fork.branchId, "a")).at(-1)?.version, 5);
    },
  },
  {
    name: "scopes belong to a moment: before and after a forget, a restore and a definition, in forks too",
    async run(store) {
      const { queryId: first, branchId } = await begun(store);
      const step = (queryId: string, position: number, fields: Partial<IterationEnd>, blocks = [block("1")]) =>
        iterate(store, { queryId, position, blocks, ...fields });
      await step(first, 0, {}, [defines("a", "1"), defines("b", "1")]);
      await step(first, 1, { scopes: { forgotten: ["a", "b", "unknown"], live: [] } });
      await step(first, 2, { scopes: { forgotten: [], live: ["a"] } });
      await step(first, 3, { scopes: { forgotten: ["a"], live: [] } }, [defines("a", "2")]);
      await step(first, 4, {}, [defines("a", "3"), defines("b", "3")]);
      await store.endQuery(first, queryEnd());
      const second = await store.beginQuery(newQuery(branchId, "second"));
      // An automatic forget does so before the first iteration.
      await store.setScope(branchId, { names: ["b"], scope: "forgotten" });
      await step(second, 0, {});
      await store.endQuery(second, queryEnd());
      const moments: readonly [string, number | null, Record<string, string>][] = [
        [first, 0, { a: "1", b: "1" }],
        [first, 1, {}],
        [first, 2, { a: "1" }],
        [first, 3, {}],
        [first, 4, { a: "3", b: "3" }],
        [second, -1, { a: "3", b: "3" }],
        [second, 0, { a: "3" }],
        [second, null, { a: "3" }],
      ];
      for (const [queryId, position, live] of moments) {
        const at = { queryId, position };
        const scopes = (await store.variables(branchId, at)).filter(({ scope }) => scope === "live");
        assert.deepEqual(scopes.map(({ name }) => name).sort(), Object.keys(live), JSON.stringify(at));
        const images = await store.liveImages(branchId, at);
        const shown = images.map(({ name, bytes }) => [name, new TextDecoder().decode(bytes)]);
        assert.deepEqual(Object.fromEntries(shown), live, JSON.stringify(at));
        const fork = await store.fork(at);
        assert.deepEqual(await values(store, fork.branchId), live, `fork at ${JSON.stringify(at)}`);
      }
      assert.deepEqual(await values(store, branchId), { a: "3" });
    },
  },
  {
    name: "a forget in the parent after a fork is not seen by the fork, nor one of a run that was replaced",
    async run(store) {
      const { branchId, second } = await history(store);
      const fork = await store.fork({ queryId: second, position: null });
      const own = await store.beginQuery(newQuery(fork.branchId, "own"));
      // An edge gives `a` a soul in the fork, and does not determine its scope.
      await iterate(store, { queryId: own, position: 0, blocks: [{ ...defines("d", "9"), reads: ["a"] }] });
      const third = await store.beginQuery(newQuery(branchId, "third"));
      await iterate(store, { queryId: third, position: 0, blocks: [], scopes: { forgotten: ["a", "b"], live: [] } });
      await store.endQuery(third, queryEnd());
      assert.deepEqual(await values(store, branchId), { c: "4" });
      assert.deepEqual(await values(store, fork.branchId), { a: "4", b: "3", c: "4", d: "9" });
      await store.beginQuery(newQuery(branchId, "third", { retryOf: third }));
      assert.deepEqual(await values(store, branchId), { a: "4", b: "3", c: "4" });
      const later = await store.fork({ queryId: third, position: 0 });
      assert.deepEqual(await values(store, later.branchId), { c: "4" });
    },
  },
  {
    name: "a fork does not see later work of its parent",
    async run(store) {
      const { branchId, second } = await history(store);
      const fork = await store.fork({ queryId: second, position: null });
      const queryId = await store.beginQuery(newQuery(branchId, "later"));
      await iterate(store, { queryId, position: 0, blocks: [defines("a", "later"), defines("late", "1")] });
      await store.endQuery(queryId, queryEnd());
      assert.deepEqual(await values(store, fork.branchId), { a: "4", b: "3", c: "4" });
      assert.equal((await store.queries(fork.branchId)).length, 2);
    },
  },
  {
    name: "fork() refuses a point that is not there or still runs",
    async run(store) {
      const { queryId } = await begun(store);
      await iterate(store, { queryId, position: 0, blocks: [defines("a", "1")] });
      await assert.rejects(store.fork({ queryId: "no", position: 0 }), /Cannot fork .*no: no request has this id/);
      await assert.rejects(
        store.fork({ queryId, position: 4 }),
        /Cannot fork at step 5 of request .*: the request has 1 step; choose/,
      );
      await assert.rejects(store.fork({ queryId, position: null }), /still running/);
      assert.deepEqual(await values(store, (await store.fork({ queryId, position: 0 })).branchId), { a: "1" });
    },
  },
  {
    name: "a fork is found by its own id, and its conversation continues in it",
    async run(store) {
      const { conversationId, branchId, first } = await history(store);
      const fork = await store.fork({ queryId: first, position: 0 });
      assert.deepEqual(await store.findConversation(fork.branchId), fork);
      assert.equal((await store.findConversation(conversationId))?.branchId, fork.branchId);
      assert.equal((await store.latestConversation("/work"))?.branchId, fork.branchId);
      const [root, child] = await store.branches(conversationId);
      assert.deepEqual([root?.branchId, root?.fork, root?.queries], [branchId, null, 2]);
      assert.deepEqual([child?.parentBranchId, child?.fork], [branchId, { queryId: first, position: 0 }]);
    },
  },
  {
    name: "beginQuery() again with retryOf replaces the last run, whose results are no longer seen",
    async run(store) {
      const { branchId, second, first } = await history(store);
      const queryId = await store.beginQuery(newQuery(branchId, "second", { retryOf: second }));
      assert.deepEqual(await values(store, branchId), { a: "3", b: "3" });
      await iterate(store, { queryId, position: 0, blocks: [defines("a", "again")] });
      await store.endQuery(queryId, queryEnd({ answer: "two again" }));
      assert.deepEqual(await values(store, branchId), { a: "again", b: "3" });
      assert.deepEqual((await store.queries(branchId)).map(({ answer }) => answer), ["one", "two again"]);
      assert.deepEqual((await store.variableVersions(branchId, "a")).map(({ code }) => code.slice(4)), [
        "1",
        "2",
        "3",
        "again",
      ]);
      assert.equal((await store.query(second))?.answer, "two");
      assert.deepEqual(await store.attempts(queryId), [second, queryId]);
      assert.deepEqual(await store.attempts(first), [first]);
      assert.deepEqual(await values(store, (await store.fork({ queryId: second, position: null })).branchId), {
        a: "4",
        b: "3",
        c: "4",
      });
      for (const retryOf of [first, second, "no"]) {
        await assert.rejects(store.beginQuery(newQuery(branchId, "x", { retryOf })), /Cannot retry request/);
      }
    },
  },
];

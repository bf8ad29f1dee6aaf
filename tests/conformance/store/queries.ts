import assert from "node:assert/strict";
import {
  begun,
  block,
  image,
  iterate,
  iterationEnd,
  newIteration,
  newQuery,
  OWNER,
  queryEnd,
  QUESTION,
  USAGE,
} from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

export const storeQueryCases: readonly StoreCase[] = [
  {
    name: "beginQuery() stores the query as running",
    async run(store, clock) {
      const { conversationId, queryId } = await begun(store, { text: "how many?" });
      const query = await store.query(queryId);
      assert.deepEqual(
        [query?.queryId, query?.conversationId, query?.text, query?.running, query?.createdAt, query?.answer],
        [queryId, conversationId, "how many?", true, clock.now, ""],
      );
      assert.equal(await store.query("no such id"), null);
    },
  },
  {
    name: "beginQuery() reports a deleted conversation",
    async run(store) {
      const { branchId, conversationId, queryId } = await begun(store);
      await store.endQuery(queryId, queryEnd());
      await store.deleteConversation(conversationId);
      const why = "no branch has this id, or its conversation was deleted; " +
        "choose another conversation, or start a new one";
      const gone = { name: "UsageError", message: `Cannot continue branch ${branchId}: ${why}` };
      await assert.rejects(store.beginQuery(newQuery(branchId, "late")), gone);
    },
  },
  {
    name: "endQuery() keeps everything it was given",
    async run(store, clock) {
      const { conversationId, branchId, queryId } = await begun(store);
      const end = queryEnd({ answer: "Long. ".repeat(1000), notes: ["a", "b"] });
      await store.endQuery(queryId, end);
      assert.deepEqual(await store.query(queryId), {
        ...end,
        queryId,
        conversationId,
        branchId,
        text: "how many?",
        model: "m1",
        running: false,
        createdAt: clock.now,
        steered: [],
      });
    },
  },
  {
    name: "endQuery() stores the last iteration with it, or neither",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const iterationId = await store.beginIteration(newIteration(queryId, 0, { blocks: ["a"] }));
      await assert.rejects(store.endQuery(queryId, queryEnd()), /its last step has not ended/);
      const saved = [image("a")];
      const iteration = iterationEnd([block("a", { saved })], { system: [{ name: "$answer", text: "42" }] });
      await assert.rejects(store.endQuery(queryId, queryEnd(), { iterationId: "none", iteration }), /does not exist/);
      assert.equal((await store.query(queryId))?.running, true);
      await store.endQuery(queryId, queryEnd({ answer: "42", iterations: 1 }), { iterationId, iteration });
      const query = await store.query(queryId);
      assert.deepEqual([query?.status, query?.answer, query?.iterations], ["done", "42", 1]);
      const [stored] = await store.iterations(queryId);
      assert.deepEqual([stored?.status, stored?.blocks.map(({ code }) => code)], ["done", ["a"]]);
      assert.deepEqual((await store.variables(branchId)).map(({ name }) => name), ["$answer", "a"]);
      const again = store.endQuery(queryId, queryEnd(), { iterationId, iteration });
      await assert.rejects(again, /Cannot change step .* it has the status done/);
      await store.beginQuery(newQuery(branchId, "next"));
    },
  },
  {
    name: "endQuery() changes nothing the second time",
    async run(store) {
      const { queryId } = await begun(store);
      await store.endQuery(queryId, queryEnd());
      const first = await store.query(queryId);
      await store.endQuery(queryId, queryEnd({ status: "error", reason: "provider", answer: "other" }));
      assert.deepEqual(await store.query(queryId), first);
      assert.equal((await store.search("other", { limit: 5 })).length, 0);
    },
  },
  {
    name: "endQuery() refuses a query that does not exist",
    async run(store) {
      await assert.rejects(store.endQuery("nothing", queryEnd()), /Cannot end request nothing: it does not exist/);
    },
  },
  {
    name: "endQuery() ends an iteration that was left running",
    async run(store) {
      const { queryId } = await begun(store);
      await store.beginIteration(newIteration(queryId, 0, { blocks: ["while (true);"] }));
      await store.endQuery(queryId, queryEnd({ status: "interrupted", reason: "cancelled" }));
      const [iteration] = await store.iterations(queryId);
      assert.deepEqual([iteration?.status, iteration?.metadata.pendingBlocks], ["interrupted", ["while (true);"]]);
    },
  },
  {
    name: "endQuery() refuses an answer whose last iteration is not stored",
    async run(store) {
      const { queryId } = await begun(store);
      const iterationId = await store.beginIteration(newIteration(queryId, 0));
      await assert.rejects(store.endQuery(queryId, queryEnd()), /its last step has not ended/);
      assert.equal((await store.query(queryId))?.running, true);
      await Promise.all([store.endIteration(iterationId, iterationEnd([])), store.endQuery(queryId, queryEnd())]);
      assert.deepEqual((await store.iterations(queryId)).map(({ status }) => status), ["done"]);
      assert.equal((await store.query(queryId))?.status, "done");
    },
  },
  {
    name: "queries() is oldest first, also when the clock was set back",
    async run(store, clock) {
      const { branchId, queryId } = await begun(store, { text: "first" });
      clock.now -= 3_600_000;
      await store.beginQuery(newQuery(branchId, "second"));
      await store.beginQuery(newQuery(branchId, "third"));
      assert.deepEqual((await store.queries(branchId)).map(({ text }) => text), ["first", "second", "third"]);
      assert.equal((await store.queries(branchId))[0]?.queryId, queryId);
      assert.deepEqual(await store.queries("no such branch"), []);
    },
  },
  {
    name: "previousTurn() hands over the last two thinkings, the answer and the status",
    async run(store) {
      const { branchId, queryId } = await begun(store, { text: "first" });
      for (const position of [0, 1, 2]) await iterate(store, { queryId, position, blocks: [] });
      const last = await store.beginIteration(newIteration(queryId, 3, { thinking: "" }));
      await store.endIteration(last, iterationEnd([]));
      await store.endQuery(queryId, { ...queryEnd({ answer: "done it" }), idle: true });
      const second = await store.beginQuery(newQuery(branchId, "second"));
      const thinkings = ["thought 1", "thought 2"], notes = ["one note"];
      const shown = [{ text: "first", answer: "done it", images: 0, steered: [], unfinished: null }];
      const earlier = { shown, more: 0 };
      const turn = { queryId, text: "first", thinkings, answer: "done it", status: "done", idle: true, notes, earlier };
      assert.equal(await store.previousTurn(branchId, queryId), null);
      assert.deepEqual(await store.previousTurn(branchId, second), turn);
      assert.deepEqual(await store.previousTurn(branchId, ""), turn, "a running query is passed over");
    },
  },
  {
    name: "previousTurn() hands over the newest work behind requests that did nothing",
    async run(store) {
      const { branchId, queryId: killed } = await begun(store, { text: "work" });
      await iterate(store, { queryId: killed, position: 0, blocks: [] });
      await store.beginIteration(newIteration(killed, 1, { thinking: "", blocks: ["change()"] }));
      await store.endQuery(killed, queryEnd({ status: "interrupted", reason: "process_lost", answer: "lost" }));
      const nothing = queryEnd({ status: "interrupted", reason: "cancelled", answer: "Cancelled", iterations: 0 });
      let last = "";
      for (const text of ["one", "two"]) {
        last = await store.beginQuery(newQuery(branchId, text));
        await store.endQuery(last, { ...nothing, notes: [] });
      }
      const next = await store.beginQuery(newQuery(branchId, "continue"));
      const before = await store.previousTurn(branchId, next);
      assert.deepEqual(
        [before?.queryId, before?.text, before?.answer, before?.thinkings, before?.pending, before?.since],
        [last, "work", "lost", ["thought 0"], ["change()"], { text: "two", answer: "Cancelled" }],
      );
      await store.endQuery(next, queryEnd({ answer: "short" }));
      const after = await store.previousTurn(branchId, "");
      assert.deepEqual([after?.text, after?.since], ["continue", undefined], "an answer is work");
    },
  },
  {
    name: "endIteration() keeps the running totals of its query",
    async run(store) {
      const { queryId } = await begun(store);
      const totals = { iterations: 3, usage: { ...USAGE, calls: 3 }, costUsd: 1.5 };
      await iterate(store, { queryId, position: 0, blocks: [block("1")], totals });
      const query = await store.query(queryId);
      assert.deepEqual([query?.iterations, query?.usage, query?.costUsd], [3, totals.usage, 1.5]);
    },
  },
  {
    name: "listConversations() marks the conversation whose running query waits for an answer",
    async run(store) {
      const { queryId } = await begun(store);
      const marks = async () =>
        (await store.listConversations({ limit: 9 })).map(({ running, asks }) => [running, asks]);
      assert.deepEqual(await marks(), [[true, false]]);
      await store.setQuestion(queryId, { question: QUESTION, answer: null });
      assert.deepEqual(await marks(), [[true, true]]);
      await store.setQuestion(queryId, { question: QUESTION, answer: { decision: "once", reason: "" } });
      assert.deepEqual(await marks(), [[true, false]]);
      await store.setQuestion(queryId, { question: QUESTION, answer: null });
      await store.endQuery(queryId, queryEnd());
      assert.deepEqual(await marks(), [[false, false]]);
    },
  },
  {
    name: "takeOver() withdraws the question of the lost process",
    async run(store) {
      const { queryId } = await begun(store);
      await store.setQuestion(queryId, { question: QUESTION, answer: null });
      const question = async () => (await store.query(queryId) as { readonly question?: string } | null)?.question;
      assert.equal(await question(), "Allow Vis to run npm ci with network?");
      assert.notEqual(await store.takeOver(queryId, { ...OWNER, pid: 1 }), null);
      assert.equal(await question(), undefined);
      assert.equal((await store.query(queryId))?.running, true);
    },
  },
  {
    name: "sweepLost() ends only the queries whose process is gone",
    async run(store, clock) {
      const { queryId } = await begun(store, { text: "lost" });
      const other = await store.createConversation({ title: "T", channel: "cli", workspace: "/w" });
      const third = await store.createConversation({ title: "T", channel: "cli", workspace: "/w" });
      clock.now += 5000;
      const action = { doing: "running", done: "ran", things: "commands", subject: "npm test" };
      const call = { name: "shell.run", ok: false, ms: 1, action, outcome: "exit code 1", exitCode: 1 };
      await iterate(store, { queryId, position: 0, blocks: [block("1", { result: { calls: [call] } })] });
      await store.beginIteration(newIteration(queryId, 1, { blocks: ["2"] }));
      const mine = await store.beginQuery(newQuery(other.branchId, "mine", { owner: { ...OWNER, pid: 1 } }));
      const ended = await store.beginQuery(newQuery(third.branchId, "ended"));
      await store.endQuery(ended, queryEnd());
      clock.now += 5000;
      const asked: number[] = [];
      const alive = (owner: typeof OWNER): boolean => asked.push(owner.pid) > 0 && owner.pid === 1;
      assert.equal(await store.sweepLost(alive), 1);
      assert.deepEqual(new Set(asked), new Set([1, 4711]));
      const lost = await store.query(queryId);
      assert.deepEqual([lost?.running, lost?.status, lost?.reason, lost?.ms], [
        false,
        "interrupted",
        "process_lost",
        5000,
      ]);
      assert.deepEqual(lost?.work?.commands, [{ command: "npm test", exitCode: 1, outcome: "exit code 1" }]);
      assert.deepEqual(lost?.notes, ["✗ npm test (exit code 1)"]);
      assert.match(
        lost?.answer ?? "",
        /^Vis ended or stopped responding while it ran this request\. 1 finished step is kept\.$/,
      );
      assert.deepEqual((await store.iterations(queryId)).map(({ status }) => status), ["done", "interrupted"]);
      assert.equal((await store.query(mine))?.running, true);
      assert.equal((await store.query(ended))?.answer, "It is 42");
      assert.equal(await store.sweepLost(() => true), 0);
    },
  },
];

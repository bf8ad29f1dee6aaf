import assert from "node:assert/strict";
import type { Store } from "../../../src/persistence/store.ts";
import { archiveOf } from "../../helpers/archive_of.ts";
import { begun, block, image, iterate, newIteration, newQuery, queryEnd, USAGE, utf8 } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const DAY_MS = 86_400_000;

const defines = (name: string, text: string) =>
  block(`${name} = ${text}`, { saved: [image(name, { bytes: utf8(text) })] });

/** Each step is a day before the one before, for times and for ids, which begin with a time. */
async function backwards(
  clock: { now: number },
  work: (step: <T>(made: Promise<T>) => Promise<T>) => Promise<void>,
): Promise<void> {
  const real = Date.now;
  Date.now = () => clock.now;
  try {
    await work(async (made) => {
      const result = await made;
      clock.now -= DAY_MS;
      return result;
    });
  } finally {
    Date.now = real;
  }
}

async function asked(store: Store, branchId: string, text: string, name = text): Promise<string> {
  const queryId = await store.beginQuery(newQuery(branchId, text));
  await iterate(store, { queryId, position: 0, blocks: [defines(name, text)] });
  await store.endQuery(queryId, queryEnd({ answer: `answer to ${text}` }));
  return queryId;
}

const names = async (store: Store, branchId: string): Promise<readonly string[]> =>
  (await store.variables(branchId)).map(({ name }) => name);

/** Rows that were stored later are newer, whatever the clock showed. */
export const storeOrderCases: readonly StoreCase[] = [
  {
    name: "a clock that goes back a day with each query disorders no queries, variables and versions",
    run: (store, clock) =>
      backwards(clock, async (step) => {
        const { branchId } = await store.createConversation({ title: "t", channel: "c", workspace: "/w" });
        for (const text of ["one", "two", "three"]) {
          await step(asked(store, branchId, text));
          await step(asked(store, branchId, `last ${text}`, "last"));
        }
        const texts = ["one", "last one", "two", "last two", "three", "last three"];
        assert.deepEqual((await store.queries(branchId)).map(({ text }) => text), texts);
        assert.deepEqual((await store.queries(branchId, { newest: 2 })).map(({ text }) => text), texts.slice(-2));
        assert.equal((await store.turns(branchId)).length, 6);
        assert.deepEqual(await names(store, branchId), ["last", "three", "two", "one"]);
        const versions = await store.variableVersions(branchId, "last");
        assert.deepEqual(versions.map(({ code }) => code), texts.filter((_, at) => at % 2).map((t) => `last = ${t}`));
        const next = await store.beginQuery(newQuery(branchId, "next"));
        assert.equal((await store.previousTurn(branchId, next))?.text, "last three");
        assert.equal((await store.query(next))?.createdAt, clock.now, "the time that is shown is the clock's");
      }),
  },
  {
    name: "a clock that goes back a day: a retry, a fork and a forgotten variable are where they were made",
    run: (store, clock) =>
      backwards(clock, async (step) => {
        const { branchId } = await store.createConversation({ title: "t", channel: "c", workspace: "/w" });
        const first = await step(asked(store, branchId, "first", "a"));
        const second = await step(asked(store, branchId, "second", "a"));
        await assert.rejects(
          store.beginQuery(newQuery(branchId, "first", { retryOf: first })),
          /not the newest run of the last request/,
        );
        const again = await step(store.beginQuery(newQuery(branchId, "second", { retryOf: second })));
        assert.equal((await store.previousTurn(branchId, again))?.queryId, first);
        await store.endQuery(again, queryEnd());
        const fork = await step(store.fork({ queryId: first, position: null }));
        assert.deepEqual((await store.queries(fork.branchId)).map(({ queryId }) => queryId), [first]);
        const third = await step(asked(store, fork.branchId, "third", "b"));
        assert.deepEqual((await store.queries(fork.branchId)).map(({ queryId }) => queryId), [first, third]);
        assert.equal((await store.previousTurn(fork.branchId, third))?.queryId, first);
        await store.setScope(branchId, { names: ["a"], scope: "forgotten" });
        assert.deepEqual((await store.variables(branchId)).map(({ scope }) => scope), ["forgotten"]);
        clock.now -= DAY_MS;
        await step(asked(store, branchId, "fourth", "a"));
        assert.deepEqual((await store.variables(branchId)).map(({ scope }) => scope), ["live"]);
      }),
  },
  {
    name: "a clock that goes back a day: the conversation that was asked last is the newest, in every list",
    run: (store, clock) =>
      backwards(clock, async (step) => {
        const ids: string[] = [];
        for (const text of ["a", "b", "c"]) {
          const { conversationId, queryId } = await step(begun(store, { text }));
          await store.endQuery(queryId, queryEnd());
          ids.push(conversationId);
        }
        const [a = "", b = "", c = ""] = ids;
        const empty = await step(store.createConversation({ title: "e", channel: "cli", workspace: "/work" }));
        const { branchId = "" } = await store.findConversation(a) ?? {};
        await step(asked(store, branchId, "again"));
        const expected = [a, empty.conversationId, c, b];
        const listed = await store.listConversations({ limit: 9 });
        assert.deepEqual(listed.map(({ conversationId }) => conversationId), expected);
        assert.equal((await store.latestConversation("/work"))?.conversationId, a);
        const paged: string[] = [];
        let after: number | undefined;
        while (paged.length < 4) {
          const [one] = await store.listConversations({ limit: 1, after });
          paged.push(one?.conversationId ?? "none");
          after = one?.place;
        }
        assert.deepEqual(paged, expected);
        const archive = await archiveOf(store, b);
        const report = await step(store.importConversation(archive, { workspace: "/work" }));
        assert.equal((await store.latestConversation("/work"))?.conversationId, report.conversationId);
      }),
  },
  {
    name: "a clock that goes back a day: sub-queries, model calls, states and log entries come in their order",
    run: (store, clock) =>
      backwards(clock, async (step) => {
        const { branchId, queryId } = await begun(store);
        const iterationId = await store.beginIteration(newIteration(queryId, 0));
        const call = { iterationId, provider: "p", model: "m", error: null, usage: USAGE, costUsd: null, ms: 1 };
        for (const text of ["one", "two", "three"]) {
          const at = { branchId, iterationId, depth: 1, title: text, images: [], copies: [] };
          const child = await store.createChildBranch(at);
          await store.beginQuery(newQuery(child.branchId, text));
          await store.recordSubCall({ ...call, prompt: text, reply: text });
          await store.states.put({ namespace: "n", branchId: null }, { key: text, value: 1 });
          await store.log({ level: "info", event: text, data: {} });
          await step(Promise.resolve());
        }
        const order = ["one", "two", "three"];
        assert.deepEqual((await store.subQueries(iterationId)).map(({ text }) => text), order);
        assert.deepEqual((await store.subCalls(iterationId)).map(({ prompt }) => prompt), order);
        const found = await store.states.query("n", { limit: 9 });
        assert.deepEqual(found.map(({ key }) => key), order.toReversed(), "changed last first");
        assert.deepEqual((await store.of(null).logs({ limit: 3 })).map(({ event }) => event), order);
      }),
  },
  {
    name: "a clock that goes back a day: an archive keeps the order",
    run: (store, clock) =>
      backwards(clock, async (step) => {
        const { branchId, conversationId } = await store.createConversation({
          title: "t",
          channel: "c",
          workspace: "/w",
        });
        for (const text of ["one", "two", "three"]) await step(asked(store, branchId, text));
        const archive = await archiveOf(store, conversationId);
        const { conversationId: id } = await step(store.importConversation(archive, { workspace: "/w" }));
        const imported = await store.findConversation(id);
        const texts = (await store.queries(imported?.branchId ?? "")).map(({ text }) => text);
        assert.deepEqual(texts, ["one", "two", "three"]);
        assert.deepEqual(await names(store, imported?.branchId ?? ""), ["three", "two", "one"]);
      }),
  },
];

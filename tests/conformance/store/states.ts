import assert from "node:assert/strict";
import { readArchive } from "../../../src/conversation/export/read_archive.ts";
import type { JsonValue } from "../../../src/domain/kit/json.ts";
import type { StatePlace } from "../../../src/domain/records/extension_state.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { archiveOf } from "../../helpers/archive_of.ts";
import { begun, iterate, newQuery, queryEnd } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const GLOBAL: StatePlace = { namespace: "test.a", branchId: null };
const inBranch = (branchId: string, more: Partial<StatePlace> = {}): StatePlace => (
  { namespace: "test.a", branchId, ...more }
);

const valueIn = async (store: Store, place: StatePlace, key = "k"): Promise<JsonValue | undefined> =>
  (await store.states.get(place, { key }))?.value;

export const storeStateCases: readonly StoreCase[] = [
  {
    name: "states: a value is read back unchanged, each change is a version, the same value is none",
    async run(store, clock) {
      const { states } = store;
      const values: JsonValue[] = [
        null,
        false,
        0,
        -1.5,
        "",
        "sha256:x",
        { a: [1, { b: null }] },
        "é\u0000\ud83d\ude00",
        [
          "long".repeat(5000),
        ],
      ];
      for (const [at, value] of values.entries()) {
        clock.now += 1;
        assert.equal(await states.put(GLOBAL, { key: "k", value }), at + 1);
        assert.equal(await states.put(GLOBAL, { key: "k", value }), at + 1);
        assert.deepEqual(await states.get(GLOBAL, { key: "k" }), { version: at + 1, value, at: clock.now });
      }
      const history = await states.history(GLOBAL, { key: "k", limit: 100 });
      assert.deepEqual(history.map(({ value }) => value), values.toReversed());
      assert.deepEqual((await states.history(GLOBAL, { key: "k", limit: 2 })).map(({ version }) => version), [9, 8]);
      assert.deepEqual((await states.get(GLOBAL, { key: "k", version: 7 }))?.value, { a: [1, { b: null }] });
      assert.equal(await states.get(GLOBAL, { key: "k", version: 10 }), null);
      await states.put(GLOBAL, { key: "keys", value: { a: 1, b: 2 } });
      assert.equal(await states.put(GLOBAL, { key: "keys", value: { b: 2, a: 1 } }), 2, "the JSON text differs");
      assert.equal(await states.get(GLOBAL, { key: "none" }), null);
      assert.deepEqual(await states.history(GLOBAL, { key: "none", limit: 5 }), []);
    },
  },
  {
    name: "states: namespaces, conversations and the global scope do not see each other",
    async run(store) {
      const { states } = store;
      const one = (await begun(store, { text: "one" })).branchId;
      const two = (await begun(store, { text: "two" })).branchId;
      const places = [GLOBAL, inBranch(one), inBranch(two), { ...GLOBAL, namespace: "test.b" }, {
        ...inBranch(one),
        namespace: "test.b",
      }];
      for (const [at, place] of places.entries()) await states.put(place, { key: "k", value: at });
      for (const [at, place] of places.entries()) {
        assert.equal(await valueIn(store, place), at);
        assert.deepEqual((await states.list(place, { limit: 10 })).map(({ key }) => key), ["k"]);
      }
      assert.equal(await states.delete(GLOBAL, "k"), true);
      for (const [at, place] of places.entries()) assert.equal(await valueIn(store, place), at === 0 ? undefined : at);
      assert.deepEqual((await states.query("test.b", { limit: 10 })).map(({ value }) => value).sort(), [3, 4]);
    },
  },
  {
    name: "states: list() has prefix, order and limit, and omits deleted keys",
    async run(store) {
      const { states } = store;
      const { branchId, queryId } = await begun(store);
      const place = inBranch(branchId, { queryId });
      for (const key of ["b/2", "a", "b/1", "b/10", "B", "%", "_"]) await states.put(place, { key, value: key });
      const keys = async (which: { prefix?: string; limit?: number } = {}) =>
        (await states.list(place, { limit: 100, ...which })).map(({ key }) => key);
      assert.deepEqual(await keys(), ["%", "B", "_", "a", "b/1", "b/10", "b/2"]);
      assert.deepEqual(await keys({ prefix: "b/" }), ["b/1", "b/10", "b/2"]);
      assert.deepEqual(await keys({ prefix: "%" }), ["%"]);
      assert.deepEqual(await keys({ limit: 2 }), ["%", "B"]);
      assert.equal(await states.delete(place, "b/1"), true);
      assert.equal(await states.delete(place, "b/1"), false);
      assert.equal(await states.delete(place, "none"), false);
      assert.deepEqual(await keys({ prefix: "b/" }), ["b/10", "b/2"]);
      const history = await states.history(place, { key: "b/1", limit: 5 });
      assert.deepEqual(history.map(({ version, value }) => [version, value]), [[2, undefined], [1, "b/1"]]);
      assert.equal(await states.put(place, { key: "b/1", value: "again" }), 3);
    },
  },
  {
    name: "states: a fork sees them as they were at any iteration, and the two go their own ways",
    async run(store) {
      const { states } = store;
      const { branchId, queryId: first } = await begun(store, { text: "first" });
      await states.put(inBranch(branchId, { queryId: first }), { key: "k", value: "before" });
      for (const position of [0, 1]) {
        const iterationId = await iterate(store, { queryId: first, position, blocks: [] });
        await states.put(inBranch(branchId, { queryId: first, iterationId }), { key: "k", value: position });
        if (position === 1) await states.delete(inBranch(branchId, { queryId: first, iterationId }), "k");
        if (position === 1) await states.put(inBranch(branchId, { iterationId }), { key: "late", value: true });
      }
      await store.endQuery(first, queryEnd());
      const at = async (position: number | null) => (await store.fork({ queryId: first, position })).branchId;
      const [none, zero, whole] = [await at(-1), await at(0), await at(null)];
      assert.equal(await valueIn(store, inBranch(none)), undefined);
      assert.equal(await valueIn(store, inBranch(zero)), 0);
      assert.equal(await valueIn(store, inBranch(whole)), undefined);
      assert.deepEqual((await states.list(inBranch(whole), { limit: 5 })).map(({ key }) => key), ["late"]);
      assert.deepEqual((await states.list(inBranch(zero), { limit: 5 })).map(({ key }) => key), ["k"]);
      assert.equal(await states.put(inBranch(zero), { key: "k", value: "mine" }), 3);
      assert.equal(await valueIn(store, inBranch(zero)), "mine");
      assert.equal(await valueIn(store, inBranch(branchId)), undefined);
      const history = await states.history(inBranch(zero), { key: "k", limit: 9 });
      assert.deepEqual(history.map(({ value }) => value), ["mine", 0, "before"]);
    },
  },
  {
    name: "states: the states of a replaced run do not exist",
    async run(store) {
      const { states } = store;
      const { branchId, queryId: first } = await begun(store, { text: "first" });
      await states.put(inBranch(branchId), { key: "kept", value: 1 });
      await store.endQuery(first, queryEnd());
      const second = await store.beginQuery(newQuery(branchId, "second"));
      const iterationId = await iterate(store, { queryId: second, position: 0, blocks: [] });
      await states.put(inBranch(branchId, { iterationId }), { key: "k", value: "old run" });
      await store.endQuery(second, queryEnd());
      const again = await store.beginQuery(newQuery(branchId, "second", { retryOf: second }));
      assert.equal(await valueIn(store, inBranch(branchId)), undefined);
      assert.deepEqual((await states.query("test.a", { limit: 9 })).map(({ key }) => key), ["kept"]);
      assert.equal(await states.put(inBranch(branchId, { queryId: again }), { key: "k", value: "new run" }), 2);
      assert.equal(await valueIn(store, inBranch(branchId)), "new run");
    },
  },
  {
    name: "states: a sub-query sees its parent's states and hides its own",
    async run(store) {
      const { states } = store;
      const { branchId, queryId } = await begun(store);
      const iterationId = await iterate(store, { queryId, position: 0, blocks: [] });
      await states.put(inBranch(branchId, { iterationId }), { key: "k", value: "parent" });
      const child = await store.createChildBranch({
        branchId,
        iterationId,
        depth: 1,
        title: "child",
        images: [],
        copies: [],
      });
      const later = await iterate(store, { queryId, position: 1, blocks: [] });
      await states.put(inBranch(branchId, { iterationId: later }), { key: "k", value: "later" });
      assert.equal(await valueIn(store, inBranch(child.branchId)), "parent");
      await states.put(inBranch(child.branchId), { key: "k", value: "child" });
      assert.equal(await valueIn(store, inBranch(child.branchId)), "child");
      assert.equal(await valueIn(store, inBranch(branchId)), "later");
    },
  },
  {
    name: "states: query() finds over conversations by prefix, value, time and conversation",
    async run(store, clock) {
      const { states } = store;
      const one = await begun(store, { text: "one" });
      const two = await begun(store, { text: "two" });
      const put = async (place: StatePlace, key: string, value: JsonValue) => {
        clock.now += 10;
        await states.put(place, { key, value });
      };
      const begin = clock.now;
      await put(inBranch(one.branchId), "job/1", { state: "open", n: 1, by: { name: "ada" }, done: false, at: null });
      await put(inBranch(two.branchId), "job/1", { state: "open", n: 2, done: true, text: "x".repeat(3000) });
      await put(GLOBAL, "job/2", { state: "shut", n: 1 });
      await put(inBranch(one.branchId), "other", "open");
      await put(inBranch(two.branchId), "gone", { state: "open" });
      await states.delete(inBranch(two.branchId), "gone");
      const find = async (query: Partial<Parameters<typeof states.query>[1]> = {}) =>
        (await states.query("test.a", { limit: 100, ...query })).map(({ conversationId, key, version }) =>
          `${conversationId === one.conversationId ? 1 : conversationId === null ? 0 : 2} ${key} ${version}`
        );
      assert.deepEqual(await find(), ["1 other 1", "0 job/2 1", "2 job/1 1", "1 job/1 1"]);
      assert.deepEqual(await find({ where: { state: "open" } }), ["2 job/1 1", "1 job/1 1"]);
      assert.deepEqual(await find({ where: { state: "open", n: 2 } }), ["2 job/1 1"]);
      assert.deepEqual(await find({ where: { "by.name": "ada" } }), ["1 job/1 1"]);
      assert.deepEqual(await find({ where: { done: true } }), ["2 job/1 1"]);
      assert.deepEqual(await find({ where: { n: "1" } }), []);
      assert.deepEqual(await find({ where: { state: "open\u0000" } }), []);
      assert.deepEqual(await find({ where: { done: 1 } }), []);
      assert.deepEqual(await find({ where: { at: null } }), ["1 job/1 1"]);
      assert.deepEqual(await find({ prefix: "job/", limit: 1 }), ["0 job/2 1"]);
      assert.deepEqual(await find({ conversationId: two.conversationId }), ["2 job/1 1"]);
      assert.deepEqual(await find({ conversationId: null }), ["0 job/2 1"]);
      assert.deepEqual(await find({ since: begin + 30 }), ["1 other 1", "0 job/2 1"]);
      const [found] = await states.query("test.a", { limit: 1, where: { n: 2 } });
      assert.equal((found?.value as { text: string }).text.length, 3000);
      for (const path of ["", "a..b", 'a"]', "a[0]"]) {
        await assert.rejects(find({ where: { [path]: 1 } }), {
          name: "UsageError",
          message: /each part between dots must have 1 to 100 of the characters/,
        });
      }
    },
  },
  {
    name: "states: limits on a value, on keys and on versions; ifVersion refuses a value that was changed meanwhile",
    async run(store) {
      const { states } = store;
      const put = (key: string, value: JsonValue, ifVersion?: number) => states.put(GLOBAL, { key, value, ifVersion });
      await assert.rejects(async () => await put("k", "x".repeat(1 << 20)), {
        name: "UsageError",
        message: /Cannot store k: its value has 1048578 characters of JSON, more than the limit of 1048576/,
      });
      assert.equal(await put("k", 0, 0), 1);
      await assert.rejects(put("k", 1, 0), {
        name: "UsageError",
        message: "Cannot store k: its version is 1, and ifVersion requires no value; read the state again",
      });
      assert.equal(await put("k", 1, 1), 2);
      const raced = await Promise.allSettled([put("k", "one", 2), put("k", "two", 2)]);
      assert.deepEqual(raced.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      for (let value = 3; value < 1010; value++) await put("k", value);
      const history = await states.history(GLOBAL, { key: "k", limit: 5000 });
      assert.equal(history.length, 1000);
      assert.equal(history[0]?.value, 1009);
    },
  },
  {
    name: "states: go with their conversation, when it is exported, imported and deleted; global ones stay",
    async run(store) {
      const { states } = store;
      const { branchId, conversationId, queryId } = await begun(store);
      const iterationId = await iterate(store, { queryId, position: 0, blocks: [] });
      const long = { text: "long".repeat(3000) };
      await states.put(GLOBAL, { key: "k", value: "global" });
      await states.put(inBranch(branchId, { queryId }), { key: "k", value: null });
      await states.put(inBranch(branchId, { iterationId }), { key: "long", value: long });
      await states.put(inBranch(branchId, { iterationId }), { key: "gone", value: 1 });
      await states.delete(inBranch(branchId, { iterationId }), "gone");
      await store.endQuery(queryId, queryEnd());
      const archive = await archiveOf(store, conversationId);
      assert.equal(archive.tables.extensionState.length, 4);
      const read = readArchive(JSON.stringify(archive));
      const { conversationId: copy } = await store.importConversation(read, { workspace: "/here" });
      await store.deleteConversation(conversationId);
      assert.deepEqual(await states.query("test.a", { limit: 9, conversationId }), []);
      const branch = await store.findConversation(copy) ?? assert.fail();
      assert.deepEqual(await states.get(inBranch(branch.branchId), { key: "long" }).then((it) => it?.value), long);
      assert.equal(await valueIn(store, inBranch(branch.branchId)), null);
      assert.equal(await valueIn(store, inBranch(branch.branchId), "gone"), undefined);
      assert.equal(await valueIn(store, GLOBAL), "global");
      const fork = await store.fork({
        queryId: (await store.queries(branch.branchId))[0]?.queryId ?? "",
        position: -1,
      });
      assert.equal(await valueIn(store, inBranch(fork.branchId), "long"), undefined);
      await store.deleteConversation(copy);
      assert.deepEqual((await states.query("test.a", { limit: 9 })).map(({ value }) => value), ["global"]);
    },
  },
  {
    name: "states: of a branch that is not there none is kept",
    async run(store) {
      await assert.rejects(store.states.put(inBranch("none"), { key: "k", value: 1 }));
      await assert.rejects(store.states.put(inBranch("none", { iterationId: "none" }), { key: "k", value: 1 }));
      assert.deepEqual(await store.states.query("test.a", { limit: 9 }), []);
    },
  },
];

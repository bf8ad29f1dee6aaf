import assert from "node:assert/strict";
import type { Store } from "../../../src/persistence/store.ts";
import { begun, block, image, iterate, newIteration, newQuery, queryEnd, USAGE } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

async function child(store: Store, fields: { readonly copies?: readonly string[]; readonly depth?: number } = {}) {
  const { branchId, queryId, conversationId } = await begun(store);
  const iterationId = await iterate(store, { queryId, position: 0, blocks: [] });
  const branch = await store.createChildBranch({
    branchId,
    iterationId,
    depth: fields.depth ?? 1,
    title: "part",
    images: [image("part")],
    copies: fields.copies ?? [],
  });
  const childId = await store.beginQuery(newQuery(branch.branchId, "Count the part"));
  return { branchId, queryId, conversationId, iterationId, branch, childId };
}

export const storeChildCases: readonly StoreCase[] = [
  {
    name: "createChildBranch() makes a branch below the same conversation that is not the conversation's own",
    async run(store) {
      const { branchId, conversationId, branch } = await child(store);
      assert.equal(branch.conversationId, conversationId);
      assert.notEqual(branch.branchId, branchId);
      assert.equal((await store.findConversation(conversationId))?.branchId, branchId);
      const [listed, ...others] = await store.listConversations({ limit: 10 });
      assert.deepEqual([listed?.branchId, listed?.queries, others.length], [branchId, 1, 0]);
      assert.equal((await store.latestConversation(branch.workspace))?.branchId, branchId);
    },
  },
  {
    name: "createChildBranch() begins with the variables given, apart from the parent's",
    async run(store) {
      const { branchId, branch } = await child(store);
      const images = await store.liveImages(branch.branchId);
      assert.deepEqual(images.map(({ name }) => name), ["part"]);
      assert.deepEqual(images[0]?.bytes, image("part").bytes);
      assert.deepEqual((await store.liveImages(branchId)).map(({ name }) => name), []);
    },
  },
  {
    name: "createChildBranch() copies newest versions of the parent's variables by name",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      await store.beginIteration(newIteration(queryId, 0, { given: [image("a"), image("b")] }));
      const again = [image("a", { bytes: new Uint8Array([1, 2]) })];
      const iterationId = await store.beginIteration(newIteration(queryId, 1, { given: again }));
      const at = { branchId, iterationId };
      const branch = await store.createChildBranch({ ...at, depth: 1, title: "t", images: [], copies: ["a", "none"] });
      const [a, ...rest] = await store.liveImages(branch.branchId);
      assert.deepEqual([a?.name, a?.bytes, rest.length], ["a", new Uint8Array([1, 2]), 0]);
    },
  },
  {
    name: "subQueries() gives the queries that an iteration started, oldest first, and none of another one",
    async run(store, clock) {
      const { iterationId, childId, branchId, queryId } = await child(store);
      clock.now += 5;
      const second = await store.createChildBranch({
        branchId,
        iterationId,
        depth: 1,
        title: "second",
        images: [],
        copies: [],
      });
      const secondId = await store.beginQuery(newQuery(second.branchId, "Second"));
      await store.endQuery(childId, queryEnd());
      const found = await store.subQueries(iterationId);
      assert.deepEqual(found.map((one) => [one.queryId, one.text, one.depth, one.running]), [
        [childId, "Count the part", 1, false],
        [secondId, "Second", 1, true],
      ]);
      const other = await iterate(store, { queryId, position: 1, blocks: [] });
      assert.deepEqual(await store.subQueries(other), []);
      assert.deepEqual((await store.queries(branchId)).map((query) => query.queryId), [queryId]);
    },
  },
  {
    name: "sweepLost() ends sub-queries of a lost process as well",
    async run(store) {
      const { iterationId } = await child(store);
      assert.equal(await store.sweepLost(() => false), 2);
      const [found] = await store.subQueries(iterationId);
      assert.deepEqual([found?.running, found?.reason], [false, "process_lost"]);
    },
  },
  {
    name: "recordSubCall() keeps prompts and replies of any length; subCalls() gives them in order",
    async run(store, clock) {
      const { iterationId } = await child(store);
      const call = { iterationId, provider: "p", model: "m", usage: USAGE, costUsd: 0.25, ms: 12 };
      await store.recordSubCall({ ...call, prompt: "x".repeat(5_000), reply: "yes", error: null });
      clock.now += 1;
      await store.recordSubCall({ ...call, prompt: "short", reply: null, error: "refused", costUsd: null });
      const [first, second] = await store.subCalls(iterationId);
      assert.deepEqual([first?.prompt.length, first?.reply, first?.usage, first?.costUsd], [5_000, "yes", USAGE, 0.25]);
      assert.deepEqual([second?.reply, second?.error, second?.costUsd, second?.ms], [null, "refused", null, 12]);
    },
  },
  {
    name: "givenImages() has the input of a run, without values of blocks and inputs of sub-queries",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const given = [image("context"), image("table")];
      const made = [block("const a = 1", { saved: [image("a"), image("context")] })];
      const system = [{ name: "$query", text: "how many?" }];
      const iterationId = await iterate(store, { queryId, position: 0, blocks: made, given, system });
      const facts = { branchId, iterationId, depth: 1, title: "part", copies: ["a"] };
      const below = await store.createChildBranch({ ...facts, images: [image("part")] });
      await iterate(store, { queryId, position: 1, blocks: [block("const b = 1", { saved: [image("b")] })] });
      assert.deepEqual(await store.givenImages(queryId), given);
      assert.deepEqual(await store.givenImages(await store.beginQuery(newQuery(below.branchId, "x"))), []);
    },
  },
  {
    name: "putLarge() keeps a text whose bytes are already stored as a value, and the value",
    async run(store) {
      const { branchId, queryId } = await begun(store);
      const bytes = new Uint8Array(300_000).map((_, at) => 97 + (at * at) % 23);
      const changed = bytes.slice();
      changed[1_000] = 65;
      const images = [image("whole", { bytes }), image("next", { bytes: changed })];
      for (const [position, one] of images.entries()) {
        await store.beginIteration(newIteration(queryId, position, { given: [{ ...one, name: "x" }] }));
      }
      for (const one of [bytes, changed]) {
        const large = await store.putLarge(async function* () {
          yield await Promise.resolve(one);
        }());
        const pieces: Uint8Array[] = [];
        for await (const piece of store.largePieces(large)) pieces.push(piece);
        assert.deepEqual(pieces, [one]);
      }
      const versions = await store.variableVersions(branchId, "x");
      assert.deepEqual(versions.map(({ image }) => image.bytes), [bytes, changed]);
    },
  },
  {
    name: "dropLarge() removes bytes of one piece or several, and nothing that is gone",
    async run(store) {
      const kept = await store.putLarge(async function* () {
        yield await Promise.resolve(new TextEncoder().encode("kept"));
      }());
      for (const pieces of [["only"], ["one ", "two ", "three"]]) {
        const large = await store.putLarge(async function* () {
          for (const piece of pieces) yield await Promise.resolve(new TextEncoder().encode(piece));
        }());
        await store.dropLarge(large);
        await store.dropLarge(large);
        await assert.rejects(Array.fromAsync(store.largePieces(large)), /is missing/);
      }
      assert.equal((await Array.fromAsync(store.largePieces(kept))).length, 1);
      assert.deepEqual(await store.check(), []);
    },
  },
  {
    name: "putLarge() gives a text back in its pieces; a variable of it is read without it",
    async run(store) {
      const pieces = ["first ", "second ", "first "].map((text) => new TextEncoder().encode(text));
      const large = await store.putLarge(async function* () {
        for (const piece of pieces) yield await Promise.resolve(piece);
      }());
      const read: string[] = [];
      for await (const piece of store.largePieces(large)) read.push(new TextDecoder().decode(piece));
      assert.equal(read.join(""), "first second first ");
      const { branchId, queryId } = await begun(store);
      const given = [image("context", { bytes: new Uint8Array(), large })];
      await store.beginIteration(newIteration(queryId, 0, { given }));
      const [found] = await store.liveImages(branchId);
      assert.deepEqual([found?.name, found?.large, found?.bytes.length], ["context", large, 0]);
      const [version] = await store.variableVersions(branchId, "context");
      assert.deepEqual([version?.image.large, version?.code], [large, ""]);
      assert.deepEqual(await store.check(), []);
    },
  },
];

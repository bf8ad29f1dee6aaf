import assert from "node:assert/strict";
import { readArchive } from "../../../src/conversation/export/read_archive.ts";
import type { ConversationArchive } from "../../../src/persistence/archive_schema.ts";
import type { Branch, Store } from "../../../src/persistence/store.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { archiveOf } from "../../helpers/archive_of.ts";
import { block, image, iterate, newIteration, newQuery, queryEnd, USAGE } from "./fixtures.ts";
import type { StoreCase } from "./suite.ts";

const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...new Uint8Array(3000).fill(7)]);

const defines = (name: string, value: unknown) =>
  block(`${name} = …`, { saved: [image(name, { bytes: encode(value) })] });

async function* pieces(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("large text\n".repeat(1000));
  yield new TextEncoder().encode("its end");
}

/** Makes a conversation with everything that can be stored. */
export async function richConversation(
  store: Store,
): Promise<Branch & { readonly first: string; readonly second: string }> {
  const branch = await store.createConversation({
    title: "Everything",
    channel: "telegram",
    workspace: "/theirs",
    externalId: "chat-7",
  });
  const { branchId } = branch;
  const linked = { kind: "url", url: "https://a.example/b.png" } as const;
  const images = [{ kind: "bytes", mediaType: "image/png", bytes: PNG } as const, linked];
  const first = await store.beginQuery(
    newQuery(branchId, "first \ud800 <b>", { images, answerSchema: '{"type":"object"}' }),
  );
  const long = "a long line of output\n".repeat(200);
  const rows = Array.from({ length: 400 }, (_, n) => ({ n, text: `row ${n}` }));
  const large = await store.putLarge(pieces());
  const one = await iterate(store, {
    given: [image("context", { bytes: new Uint8Array(), large })],
    queryId: first,
    position: 0,
    blocks: [
      { ...defines("rows", rows), value: encode([1, 2]), result: { ...defines("rows", 0).result, stdout: long } },
      block("boom()", {
        result: {
          ok: false,
          outcome: "error",
          error: { name: "E", message: "no\ud800", line: 1, column: 2, excerpt: "^", stack: "" },
        },
      }),
    ],
    system: [{ name: "$query", text: "first" }, { name: "$reasoning", text: "thought\u0000" }],
  });
  await store.recordSubCall({
    iterationId: one,
    provider: "openai",
    model: "m1",
    prompt: "p".repeat(2000),
    reply: "r",
    error: null,
    usage: USAGE,
    costUsd: 0.1,
    ms: 5,
  });
  const child = await store.createChildBranch({
    branchId,
    iterationId: one,
    depth: 1,
    title: "part",
    images: [image("part", { bytes: encode("of it") })],
    copies: ["rows"],
  });
  const childQuery = await store.beginQuery(newQuery(child.branchId, "child"));
  await iterate(store, { queryId: childQuery, position: 0, blocks: [defines("x", 1)] });
  await store.endQuery(childQuery, queryEnd({ answer: "child's" }));
  rows[7] = { n: 7, text: "changed" };
  const source = "function twice(n) {\n  return 2 * n\n}";
  const twice = image("twice", { kind: "function", bytes: new Uint8Array(), source, requires: ["rows"] });
  await iterate(store, {
    queryId: first,
    position: 1,
    blocks: [{ ...defines("rows", rows), reads: ["context"] }, block(source, { saved: [twice], reads: ["rows"] })],
  });
  await store.endQuery(first, queryEnd({ answer: "one", iterations: 2 }));
  const second = await store.beginQuery(newQuery(branchId, "second"));
  await iterate(store, { queryId: second, position: 0, blocks: [defines("tmp", new Map([["k", 1n]]))] });
  await store.endQuery(second, queryEnd({ answer: "two" }));
  const again = await store.beginQuery(newQuery(branchId, "second", { retryOf: second }));
  await iterate(store, { queryId: again, position: 0, blocks: [defines("tmp", [3])] });
  await store.endQuery(again, queryEnd({ answer: "two again" }));
  await store.setScope(branchId, { names: ["tmp"], scope: "forgotten" });
  const place = { namespace: "test.a", branchId, queryId: again };
  const texts = ["short", "long text of a state ".repeat(200)];
  for (const value of texts) await store.states.put(place, { key: "kept", value });
  await store.states.put(place, { key: "gone", value: null });
  await store.states.delete(place, "gone");
  const fork = await store.fork({ queryId: first, position: 0, title: "another way" });
  const third = await store.beginQuery(newQuery(fork.branchId, "third"));
  await iterate(store, { queryId: third, position: 0, blocks: [{ ...defines("rows", [1]), reads: ["context"] }] });
  await store.beginIteration(newIteration(third, 1, { blocks: ["still_running()"] }));
  return { ...branch, first, second };
}

/** Returns the text with every id replaced by its place in their order, and without its hash. */
function withoutIds(archive: ConversationArchive): string {
  const text = JSON.stringify({ ...archive, sha256: "" });
  const ids = [...new Set(text.match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))].sort();
  return ids.reduce((changed, id, at) => changed.replaceAll(id, `id ${at}`), text);
}

export async function readAll(
  store: Store,
  branchId: string,
): Promise<Readonly<Record<string, unknown>>> {
  const queries = await store.queries(branchId);
  const iterations = [];
  for (const { queryId } of queries) {
    for (const iteration of await store.iterations(queryId)) {
      const { iterationId, queryId: _of, ...rest } = iteration;
      const calls = (await store.subCalls(iterationId)).map(({ iterationId: _, ...call }) => call);
      const children = (await store.subQueries(iterationId)).map(({ text, answer, depth }) => [text, answer, depth]);
      iterations.push({ ...rest, calls, children, sent: await store.sentMessages(queryId, rest.position) });
    }
  }
  const heads = await store.variables(branchId);
  const versions = [];
  for (const { name } of heads) versions.push(await store.variableVersions(branchId, name));
  const place = { namespace: "test.a", branchId };
  const states = [];
  for (const { key } of await store.states.list(place, { limit: 100 })) {
    states.push([key, await store.states.history(place, { key, limit: 100 })]);
  }
  return {
    states,
    queries: queries.map(({ queryId: _q, branchId: _b, conversationId: _c, ...query }) => query),
    extras: await Promise.all(queries.map(({ queryId }) => store.queryExtras(queryId))),
    iterations,
    variables: {
      heads: heads.toSorted((a, b) => a.name < b.name ? -1 : 1),
      live: await store.liveImages(branchId),
      versions: versions.flat().toSorted((a, b) => a.image.name < b.image.name ? -1 : a.version - b.version),
    },
  };
}

export const storeArchiveCases: readonly StoreCase[] = [
  {
    name: "exportConversation() and importConversation() give the same conversation under new ids",
    async run(store) {
      const { conversationId } = await richConversation(store);
      const archive = await archiveOf(store, conversationId);
      const read = readArchive(JSON.stringify(archive));
      const { conversationId: copy, ids } = await store.importConversation(read, { workspace: "/mine" });
      assert.notEqual(copy, conversationId);
      assert.equal(ids.get(conversationId), copy);
      const again = await archiveOf(store, copy);
      const own = (text: string) =>
        text.replaceAll(',"externalId":"chat-7"', "").replaceAll('"workspace":"/theirs"', '"workspace":"/mine"');
      assert.deepEqual(JSON.parse(withoutIds(again)), JSON.parse(own(withoutIds(archive))));
      assert.equal((await store.findConversation(copy))?.workspace, "/mine");
      const tree = await store.branches(conversationId);
      const copied = await store.branches(copy);
      assert.deepEqual(copied.map(({ title, queries }) => [title, queries]), tree.map((b) => [b.title, b.queries]));
      for (const [at, { branchId }] of tree.entries()) {
        const [before, after] = [await readAll(store, branchId), await readAll(store, copied[at]?.branchId ?? "")];
        assert.deepEqual(after["variables"], before["variables"]);
        if (at === 0) assert.deepEqual(after, before); // The other conversation has a running query.
      }
      assert.deepEqual(await store.check(), []);
    },
  },
  {
    name: "importConversation() stores large texts in pieces that are read as they are asked for",
    async run(store) {
      const { conversationId } = await richConversation(store);
      const { conversationId: copy } = await store.importConversation(await archiveOf(store, conversationId), {
        workspace: "/mine",
      });
      const branch = (await store.branches(copy))[0];
      const [version] = await store.variableVersions(branch?.branchId ?? "", "context");
      let text = "";
      for await (const piece of store.largePieces(version?.image.large ?? "")) text += new TextDecoder().decode(piece);
      assert.ok(text.startsWith("large text\n") && text.endsWith("its end"));
    },
  },
  {
    name: "a running query is exported as interrupted, and an imported conversation continues",
    async run(store) {
      const { conversationId } = await richConversation(store);
      const archive = await archiveOf(store, conversationId);
      const { tables } = archive;
      assert.ok(!JSON.stringify(archive).includes('"running"'));
      assert.ok(!tables.queryState.some(({ metadata }) => "owner" in metadata));
      const { conversationId: copy } = await store.importConversation(archive, { workspace: "/mine" });
      const [first, fork] = await store.branches(copy);
      const queryId = await store.beginQuery(newQuery(first?.branchId ?? "", "on"));
      await iterate(store, { queryId, position: 0, blocks: [defines("rows", "new")] });
      await store.endQuery(queryId, queryEnd());
      const versions = await store.variableVersions(first?.branchId ?? "", "rows");
      assert.deepEqual(versions.map(({ version }) => version), [1, 2, 3]);
      assert.equal((await store.queries(fork?.branchId ?? "")).at(-1)?.running, false);
      await store.beginQuery(newQuery(fork?.branchId ?? "", "in the fork"));
    },
  },
  {
    name: "importConversation() writes nothing of rows that contradict each other",
    async run(store) {
      const { conversationId } = await richConversation(store);
      const archive = await archiveOf(store, conversationId);
      const broken = (change: (tables: ConversationArchive["tables"]) => void): ConversationArchive => {
        const copy = structuredClone(archive);
        change(copy.tables);
        return copy;
      };
      const cases: readonly [ConversationArchive, RegExp][] = [
        [broken((t) => void (t.iteration[0]!.queryStateId = conversationId)), /contradict each other/],
        [broken((t) => void (t.iteration[2]!.position = t.iteration[0]!.position)), /contradict each other/],
        [broken((t) => void t.queryState.pop()), /the file lacks (?:row|text) /],
        [broken((t) => void t.iteration.push(t.iteration[0]!)), /two rows of the file have the id \S+; export/],
        [{ ...archive, contents: archive.contents.slice(1) }, /the file lacks (?:row|text) /],
        [
          { ...archive, contents: [{ sha256: archive.contents[0]!.sha256, text: "other" }] },
          /text \S+ does not match its hash/,
        ],
      ];
      for (const [bad, why] of cases) {
        await assert.rejects(store.importConversation(bad, { workspace: "/mine" }), why);
      }
      assert.equal((await store.listConversations({ limit: 9 })).length, 1);
      assert.deepEqual(await store.check(), []);
    },
  },
  {
    name: "turns() counts the visible iterations of each query in a branch",
    async run(store) {
      const { conversationId, branchId, first } = await richConversation(store);
      assert.deepEqual((await store.turns(branchId)).map(({ iterations }) => iterations), [2, 1]);
      const fork = (await store.branches(conversationId))[1];
      const turns = await store.turns(fork?.branchId ?? "");
      assert.deepEqual(turns.map(({ iterations }) => iterations), [1, 2]);
      assert.equal(turns[0]?.queryId, first);
      const shown = await store.queries(branchId);
      assert.deepEqual((await store.turns(branchId)).map((t) => t.queryId), shown.map((q) => q.queryId));
    },
  },
  {
    name: "variables(), liveImages() and variableVersions() at a moment equal the ones of a fork there",
    async run(store) {
      const { branchId, first, second } = await richConversation(store);
      for (
        const at of [{ queryId: first, position: -1 }, { queryId: first, position: 0 }, {
          queryId: second,
          position: null,
        }]
      ) {
        const heads = await store.variables(branchId, at);
        const live = await store.liveImages(branchId, at);
        const rows = await store.variableVersions(branchId, "rows", { at });
        const fork = await store.fork(at);
        assert.deepEqual(heads, await store.variables(fork.branchId));
        assert.deepEqual(live, await store.liveImages(fork.branchId));
        assert.deepEqual(rows, await store.variableVersions(fork.branchId, "rows"));
      }
      await assert.rejects(
        store.variables(branchId, { queryId: first, position: 9 }),
        /Cannot show step 10 of request .*: the request has 2 steps; choose 0 to 2/,
      );
    },
  },
  {
    name: "setTitle() names one branch; findQuery() finds a run by how its id begins",
    async run(store) {
      const { branchId, conversationId, first } = await richConversation(store);
      await store.setTitle(branchId, "x".repeat(3000));
      const [root, fork] = await store.branches(conversationId);
      assert.deepEqual([root?.title.length, fork?.title], [3000, "another way"]);
      await assert.rejects(store.setTitle("none", "x"), /Cannot rename branch none/);
      assert.equal(await store.findQuery(first), first);
      assert.equal(await store.findQuery(first.slice(0, 35).toUpperCase()) ?? first, first);
      assert.equal(await store.findQuery(first.slice(0, 7)), null);
      assert.equal(await store.findQuery("%".repeat(9)), null);
    },
  },
  {
    name: "deleteConversation() refuses one in which a query runs, and leaves no row of another",
    async run(store) {
      const { conversationId } = await richConversation(store);
      const other = await store.createConversation({ title: "stays", channel: "cli", workspace: "/w" });
      await assert.rejects(store.deleteConversation(conversationId), { name: "BusyError" });
      assert.equal((await store.listConversations({ limit: 9 })).length, 2);
      const running = (await store.queries((await store.branches(conversationId))[1]?.branchId ?? "")).at(-1);
      await store.endQuery(running?.queryId ?? "", queryEnd({ status: "interrupted", reason: "cancelled" }));
      await store.deleteConversation(conversationId);
      assert.deepEqual((await store.listConversations({ limit: 9 })).map((c) => c.conversationId), [
        other.conversationId,
      ]);
      assert.equal(await store.findConversation(conversationId), null);
      await assert.rejects(store.deleteConversation(conversationId), /no conversation has this id/);
      assert.deepEqual(await store.check(), []);
    },
  },
];

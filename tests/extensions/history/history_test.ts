import assert from "node:assert/strict";
import history from "../../../extensions/history/mod.ts";
import { StoredHistory } from "../../../src/environment/environment_for_extensions.ts";
import type { EnvironmentView } from "../../../src/extension/mod.ts";
import { ExtensionRegistry } from "../../../src/extension/registry.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { encode } from "../../../src/sandbox/codec/codec.ts";
import { begun, block, image, iterate, queryEnd } from "../../conformance/store/fixtures.ts";

interface Hits {
  readonly hits: readonly Record<string, unknown>[];
  readonly more: boolean;
}

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function opened() {
  const store = await openStore({ path: ":memory:" });
  const ids = await begun(store, { text: "Where is the marmalade?" });
  const saved = [
    image("jar", { bytes: encode({ jar: { sort: "orange" } }), root: "jar" }),
    image("spread", { kind: "function", source: "function spread() { return jar }", bytes: new Uint8Array() }),
  ];
  const blocks = [block("const jar = find()", { saved, result: { preview: "orange marmalade", stdout: "found\n" } })];
  await iterate(store, { queryId: ids.queryId, position: 0, blocks });
  await store.endQuery(ids.queryId, queryEnd({ answer: "On the shelf" }));
  const registry = new ExtensionRegistry({ log: LOG });
  registry.register(history);
  const facts = { envId: "e", conversationId: ids.conversationId, branchId: ids.branchId, depth: 0, workspace: "/w" };
  const env: EnvironmentView = { ...facts, db: new StoredHistory(store, ids) };
  const active = await registry.activate(env);
  const call = (name: string, ...args: unknown[]) =>
    active.call(`history.${name}`, args, { env, signal: new AbortController().signal }) as Promise<never>;
  return { store, registry, env, active, call, ids };
}

Deno.test("history.search() finds requests, code and answers, with their place and time", async () => {
  const { store, call, ids: { conversationId, queryId } } = await opened();
  const { hits: [hit, ...others], more }: Hits = await call("search", "marmalade");
  assert.deepEqual([others.length, more], [0, false]);
  assert.deepEqual({ ...hit, at: hit?.at instanceof Date }, {
    kind: "request",
    snippet: "Where is the [marmalade]?",
    conversationId,
    title: "A title",
    queryId,
    iterationId: null,
    variable: null,
    at: true,
  });
  const options = { conversation: conversationId.slice(0, 13), kind: "answer", since: "2020-01-01", limit: 1 };
  assert.equal((await call("search", "shelf", options) as Hits).hits.length, 1);
  assert.deepEqual(await call("search", "shelf", { until: new Date(1000) }), { hits: [], more: false });
  assert.deepEqual(await call("search", '"NEAR(* \ud800'), { hits: [], more: false });
  await assert.rejects(call("search", "x", { since: "yesterday" }), {
    message: /since is ".*", not a date such as "2026-11-22"/,
  });
  await assert.rejects(call("search", "x", { conversation: "00000000" }), {
    message:
      "Cannot find conversation 00000000: no conversation or branch has this id, or several ids begin with it; use the whole id",
  });
  await store.close();
});

Deno.test("history reads conversations, queries, iterations and variables", async () => {
  const { store, call, ids: { conversationId, queryId } } = await opened();
  const { conversations: [conversation] }: { conversations: Record<string, unknown>[] } = await call("conversations");
  assert.deepEqual([conversation?.id, conversation?.queries], [conversationId, 1]);
  const [query]: Record<string, unknown>[] = await call("queries");
  assert.deepEqual([query?.id, query?.request, query?.answer], [queryId, "Where is the marmalade?", "On the shelf"]);
  const [iteration]: { number: number; blocks: unknown[] }[] = await call("iterations", queryId);
  assert.deepEqual([iteration?.number, iteration?.blocks], [1, [
    { code: "const jar = find()", ms: 0, ok: true, result: "orange marmalade", stdout: "found\n", error: null },
  ]]);
  const variables: { name: string; versions: number }[] = await call("variables", conversationId.slice(0, 13));
  assert.deepEqual(variables.map(({ name, versions }) => `${name} ${versions}`).sort(), ["jar 1", "spread 1"]);
  assert.deepEqual(await call("variable", conversationId, "jar"), { sort: "orange" });
  assert.equal(await call("variable", conversationId, "spread", 1), "function spread() { return jar }");
  await assert.rejects(call("variable", conversationId, "jar", 7), {
    message: /Cannot find version 7 of jar: .* has 1 version; choose 1$/,
  });
  await assert.rejects(call("variable", conversationId, "nothing"), {
    message: /Cannot find nothing: conversation .* has no such variable/,
  });
  await assert.rejects(call("iterations", "nowhere"), {
    message: "Cannot find request nowhere: no request has this id",
  });
  await store.close();
});

Deno.test("history is in the prompt only if other conversations exist, in at most 250 bytes", async () => {
  const { store, registry, env, active } = await opened();
  assert.deepEqual(active.blocks, []);
  assert.match(
    active.doc("history.search") ?? "",
    /history\.search\(text: string, options\?: \{conversation\?: string/,
  );
  await begun(store);
  const { blocks } = await registry.activate(env);
  assert.match(blocks.join(), /\(doc\): search/);
  assert.ok(new TextEncoder().encode(blocks.join()).length <= 250, blocks.join());
  const { functions } = await registry.activate({ ...env, depth: 1 });
  assert.deepEqual(functions, []);
  await store.close();
});

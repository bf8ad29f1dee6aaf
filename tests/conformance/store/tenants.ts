import assert from "node:assert/strict";
import type { Store } from "../../../src/persistence/store.ts";
import { archiveOf } from "../../helpers/archive_of.ts";
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

const WORKSPACE = "/work";
const CHAT = { channel: "telegram", externalId: "chat 7" };
const GLOBAL = { namespace: "test.a", branchId: null };
const ABSENT: Ids = {
  conversationId: "01000001-0000-7000-8000-000000000000",
  branchId: "01000002-0000-7000-8000-000000000000",
  queryId: "01000003-0000-7000-8000-000000000000",
  iterationId: "01000004-0000-7000-8000-000000000000",
};

interface Ids {
  readonly conversationId: string;
  readonly branchId: string;
  readonly queryId: string;
  readonly iterationId: string;
}

type Attempt = (store: Store, ids: Ids) => Promise<unknown>;
type Attempts<T, Without extends keyof T = never> = { readonly [K in Exclude<keyof T, Without>]: Attempt };

export async function secrets(store: Store): Promise<Ids> {
  const branch = await store.ensureConversation({ title: "Secret plan", workspace: WORKSPACE, ...CHAT });
  const { conversationId, branchId } = branch;
  const key = { branchId, key: "key 1", fingerprint: "f" };
  const queryId = await store.beginQuery({
    ...newQuery(branchId, "the secret marmalade", { runLabel: "http:ana" }),
    requestKey: key,
  });
  const blocks = [block("const secret = 1", { saved: [image("secret")] })];
  const iterationId = await iterate(store, { queryId, position: 0, blocks });
  await store.states.put({ namespace: "test.a", branchId, queryId }, { key: "secret", value: 1 });
  await store.states.put(GLOBAL, { key: "secret", value: 2 });
  await store.log({ level: "info", event: "secret", data: {}, conversationId, queryId });
  return { conversationId, branchId, queryId, iterationId };
}

const place = ({ branchId, queryId }: Ids) => ({ namespace: "test.a", branchId, queryId });
const child = ({ branchId, iterationId }: Ids) => (
  { branchId, iterationId, depth: 1, title: "", images: [], copies: ["secret"] }
);
const call = { provider: "p", model: "m", prompt: "", reply: "", error: null, usage: USAGE, costUsd: null, ms: 0 };
const end = { system: [], totals: { iterations: 1, usage: USAGE, costUsd: 0 }, metadata: {}, error: "no" };

const ofStates: Attempts<Store["states"]> = {
  put: (store, ids) => store.states.put(place(ids), { key: "own", value: 1 }),
  get: (store, ids) => store.states.get(place(ids), { key: "secret" }),
  history: (store, ids) => store.states.history(place(ids), { key: "secret", limit: 9 }),
  list: (store, ids) => store.states.list(place(ids), { limit: 9 }),
  query: (store, { conversationId }) => store.states.query("test.a", { limit: 9, conversationId }),
  delete: (store, ids) => store.states.delete(place(ids), "secret"),
};

const ofStore: Attempts<
  Store,
  | (
    | "location"
    | "tenant"
    | "of"
    | "asNode"
    | "states"
    | "check"
    | "fileFault"
    | "writeFault"
    | "close"
    | "log"
    | "labelUse"
  )
  | ("createConversation" | "ensureConversation" | "importConversation" | "sweepLost" | "renewLeases")
  | ("putLarge" | "largePieces" | "dropLarge")
> = {
  findConversation: async (store, { conversationId, branchId }) => [
    await store.findConversation(conversationId),
    await store.findConversation(branchId),
    await store.findConversation(conversationId.slice(0, 23)),
  ],
  findExternal: (store) => store.findExternal(CHAT),
  latestConversation: (store) => store.latestConversation(WORKSPACE),
  listConversations: (store) => store.listConversations({ limit: 9 }),
  fork: (store, { queryId }) => store.fork({ queryId, position: null }),
  branches: (store, { conversationId }) => store.branches(conversationId),
  setTitle: (store, { branchId }) => store.setTitle(branchId, "taken"),
  setWorkspace: (store, { conversationId }) => store.setWorkspace(conversationId, "/taken"),
  deleteConversation: (store, { conversationId }) => store.deleteConversation(conversationId),
  runningQuery: (store, { conversationId }) => store.runningQuery(conversationId),
  findQuery: (store, { queryId }) => store.findQuery(queryId.slice(0, 23)),
  turns: (store, { branchId }) => store.turns(branchId),
  exportConversation: (store, { conversationId }) => archiveOf(store, conversationId),
  beginQuery: (store, { branchId }) => store.beginQuery(newQuery(branchId, "mine")),
  keyedQuery: (store, { branchId }) => store.keyedQuery(branchId, "key 1"),
  takeOver: (store, { queryId }) => store.takeOver(queryId, OWNER),
  addSteered: (store, { queryId }) => store.addSteered(queryId, { iteration: 1, texts: ["stop"] }),
  setQuestion: (store, { queryId }) => store.setQuestion(queryId, { question: QUESTION, answer: null }),
  setWaiting: (store, { queryId }) => store.setWaiting(queryId, ["wait"]),
  endQuery: (store, { queryId }) => store.endQuery(queryId, queryEnd()),
  query: (store, { queryId }) => store.query(queryId),
  attempts: (store, { queryId }) => store.attempts(queryId),
  queryExtras: (store, { queryId }) => store.queryExtras(queryId),
  queries: (store, { branchId }) => store.queries(branchId),
  previousTurn: (store, { branchId, queryId }) => store.previousTurn(branchId, queryId),
  beginIteration: (store, { queryId }) => store.beginIteration(newIteration(queryId, 1)),
  setDiffs: (store, { iterationId }) => store.setDiffs(iterationId, []),
  endIteration: (store, { iterationId }) => store.endIteration(iterationId, iterationEnd([])),
  failIteration: (store, { queryId }) => store.failIteration(newIteration(queryId, 1), end),
  iterations: (store, { queryId }) => store.iterations(queryId),
  sentMessages: (store, { queryId }) => store.sentMessages(queryId, 0),
  variables: async (store, { branchId, queryId }) => [
    await store.variables(branchId),
    await store.variables(branchId, { queryId, position: 0 }),
  ],
  dependencies: (store, { branchId }) => store.dependencies(branchId),
  liveImages: (store, { branchId }) => store.liveImages(branchId),
  givenImages: (store, { queryId }) => store.givenImages(queryId),
  variableVersions: (store, { branchId }) => store.variableVersions(branchId, "secret"),
  setScope: (store, { branchId }) => store.setScope(branchId, { names: ["secret"], scope: "forgotten" }),
  createChildBranch: (store, ids) => store.createChildBranch(child(ids)),
  subQueries: (store, { iterationId }) => store.subQueries(iterationId),
  recordSubCall: (store, { iterationId }) => store.recordSubCall({ ...call, iterationId }),
  subCalls: (store, { iterationId }) => store.subCalls(iterationId),
  search: async (store, { conversationId, branchId }) => [
    await store.search("secret marmalade", { limit: 9 }),
    await store.search("secret", { limit: 9, conversationId }),
    await store.search("secret", { limit: 9, branchId }),
  ],
  logs: async (store, { conversationId, queryId }) => [
    await store.logs({ limit: 9 }),
    await store.logs({ limit: 9, conversationId }),
    await store.logs({ limit: 9, queryId }),
  ],
};

async function outcome(work: Promise<unknown>, ids: Ids): Promise<string> {
  const text = await work.then(
    (result) => JSON.stringify(result) ?? "undefined",
    (error: Error) => `thrown: ${error.message}`,
  );
  const names = Object.entries(ids);
  const whole = names.reduce((sum, [name, id]) => sum.replaceAll(id, name), text);
  return names.reduce((sum, [name, id]) => sum.replaceAll(id.slice(0, 23), name), whole).replaceAll(" :", ":");
}

/** A tenant's attempts with another tenant's rows end as with unknown rows, and change no row. */
export async function attack(stranger: Store, ids: Ids): Promise<number> {
  const attempts = Object.entries({ ...ofStore, ...Object.fromEntries(renamed(ofStates)) });
  for (const [name, attempt] of attempts) {
    const absent = await outcome(attempt(stranger, ABSENT), ABSENT);
    const foreign = await outcome(attempt(stranger, ids), ids);
    assert.equal(foreign, absent, name);
    assert.doesNotMatch(foreign, /Secret|marmalade/, name);
  }
  return attempts.length;
}

function renamed(attempts: Readonly<Record<string, Attempt>>): readonly (readonly [string, Attempt])[] {
  return Object.entries(attempts).map(([name, attempt]) => [`states.${name}`, attempt]);
}

export async function whole(store: Store, { conversationId, branchId }: Ids): Promise<string> {
  const { tables, contents } = await archiveOf(store, conversationId);
  const listed = await store.listConversations({ limit: 9 });
  return JSON.stringify([tables, contents, listed, await store.states.list({ ...GLOBAL, branchId }, { limit: 9 })]);
}

export const storeTenantCases: readonly StoreCase[] = [
  {
    name: "of(): the rows of another tenant are not there, whatever method names or looks for them",
    async run(store) {
      const ana = store.of("ana");
      const ids = await secrets(ana);
      await begun(store.of("ben"), { text: "mine" });
      const before = await whole(ana, ids);
      for (const stranger of [store, store.of("ben")]) assert.equal(await attack(stranger, ids), 49);
      assert.equal(await whole(ana, ids), before);
    },
  },
  {
    name: "of(null) sees every tenant, and its additions to a conversation have that tenant",
    async run(store) {
      const all = store.of(null);
      const ids = await secrets(store.of("ana"));
      const mine = await begun(store, { text: "mine" });
      assert.deepEqual((await all.listConversations({ limit: 9 })).map(({ tenant }) => tenant), ["default", "ana"]);
      assert.equal((await all.search("secret", { limit: 9 })).length, 2);
      assert.equal((await all.findConversation(ids.conversationId))?.tenant, "ana");
      const { branchId, tenant } = await all.fork({ queryId: ids.queryId, position: 0 });
      assert.equal(tenant, "ana");
      await all.setTitle(branchId, "Renamed");
      const id = await all.beginQuery(newQuery(branchId, "by the operator"));
      await iterate(all, { queryId: id, position: 0, blocks: [block("let more = 1", { saved: [image("more")] })] });
      await all.endQuery(id, queryEnd());
      assert.equal((await store.of("ana").queries(branchId)).at(-1)?.text, "by the operator");
      assert.deepEqual((await store.of("ana").variables(branchId)).map(({ name }) => name).slice(0, 2), [
        "more",
        "secret",
      ]);
      assert.equal((await store.of("ana").search("operator", { limit: 9 })).length, 1);
      assert.equal((await store.search("operator", { limit: 9 })).length, 0);
      await all.deleteConversation(mine.conversationId).catch(() => {});
      assert.deepEqual(await all.logs({ limit: 9 }).then((rows) => rows.map(({ event }) => event)), ["secret"]);
    },
  },
  {
    name: "each tenant has its own chats, workspaces and global states",
    async run(store) {
      const stores = ["default", "ana", "ben"].map((tenant) => store.of(tenant));
      const made = await Promise.all(
        stores.map((one) => one.ensureConversation({ title: "t", workspace: WORKSPACE, ...CHAT })),
      );
      assert.equal(new Set(made.map(({ conversationId }) => conversationId)).size, 3);
      for (const [at, one] of stores.entries()) {
        const { conversationId = "", branchId = "", tenant } = made[at] ?? {};
        assert.equal(tenant, one.tenant);
        assert.equal((await one.findExternal(CHAT))?.conversationId, conversationId);
        assert.equal((await one.ensureConversation({ title: "t", workspace: WORKSPACE, ...CHAT })).branchId, branchId);
        await one.beginQuery(newQuery(branchId, "hello"));
        assert.equal((await one.latestConversation(WORKSPACE))?.conversationId, conversationId);
        assert.equal(await one.states.put(GLOBAL, { key: "k", value: at, ifVersion: 0 }), 1);
      }
      for (const [at, one] of stores.entries()) {
        assert.equal((await one.states.get(GLOBAL, { key: "k" }))?.value, at);
        assert.equal((await one.states.list(GLOBAL, { limit: 9 })).length, 1);
        assert.deepEqual((await one.states.query("test.a", { limit: 9 })).map(({ value }) => value), [at]);
      }
      assert.equal(await stores[1]?.states.delete(GLOBAL, "k"), true);
      assert.equal((await stores[2]?.states.get(GLOBAL, { key: "k" }))?.value, 2);
    },
  },
  {
    name: "an archive of one tenant becomes a conversation of the importing tenant",
    async run(store) {
      const ids = await secrets(store.of("ana"));
      const archive = await archiveOf(store.of("ana"), ids.conversationId);
      assert.doesNotMatch(JSON.stringify(archive), /"tenant"|"ana"/);
      const { conversationId } = await store.of("ben").importConversation(archive, { workspace: WORKSPACE });
      assert.equal((await store.of("ben").findConversation(conversationId))?.tenant, "ben");
      assert.equal((await store.of("ben").search("marmalade", { limit: 9 })).length, 1);
      assert.equal(await store.of("ana").findConversation(conversationId), null);
      assert.equal((await store.of("ana").search("marmalade", { limit: 9 })).length, 1);
    },
  },
  {
    name: "lost queries, leases and the use of labels cover all tenants",
    async run(store) {
      const stores = ["default", "ana"].map((tenant) => store.of(tenant));
      const ids = await Promise.all(stores.map((one) => begun(one)));
      const first = await secrets(store.of("ben"));
      assert.equal((await store.renewLeases(OWNER)).length, 3);
      assert.deepEqual((await store.labelUse(0)).map(({ label }) => label), ["http:ana"]);
      assert.equal(await store.of("ana").sweepLost(() => false), 3);
      assert.equal((await store.of("ben").query(first.queryId))?.status, "interrupted");
      for (const [at, { queryId }] of ids.entries()) {
        assert.equal((await stores[at]?.query(queryId))?.status, "interrupted");
        assert.equal((await stores[at]?.search("ended", { limit: 9 }))?.length, 1);
      }
    },
  },
];

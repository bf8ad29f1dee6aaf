import { createHash } from "node:crypto";
import type { BranchPoint } from "../../src/domain/records/conversations.ts";
import type { StatePlace } from "../../src/domain/records/extension_state.ts";
import type { Store } from "../../src/persistence/store.ts";
import { archiveTextOf } from "../helpers/archive_of.ts";
import type { Filled } from "./_flip_database.ts";

export interface Read {
  readonly name: string;
  readonly run: (store: Store) => Promise<unknown>;
  /** Whether items of the list may be missing, because the index of a search does not store the data itself. */
  readonly some?: boolean;
  readonly stays?: boolean;
}

/** Reads everything in the database: every branch now and at every moment of it, every version, query, iteration, state
 * and archive, lists, keys and hits of searches. */
export async function allReads(store: Store, filled: Filled): Promise<readonly Read[]> {
  const { conversationIds, branchIds, workspace } = filled;
  const reads: Read[] = [
    { name: "conversations", run: (from) => from.listConversations({ limit: 1000 }) },
    { name: "conversations of a channel", run: (from) => from.listConversations({ limit: 7, channel: "telegram" }) },
    { name: "newest conversation", run: (from) => from.latestConversation(workspace) },
    { name: "chat", run: (from) => from.findExternal({ channel: "telegram", externalId: "chat-20" }) },
    { name: "labels", run: (from) => from.labelUse(0) },
    { name: "large text", run: (from) => pieces(from, filled.large) },
    ...filled.keys.map(({ branchId, key }): Read => ({
      name: `key ${key}`,
      run: (from) => from.keyedQuery(branchId, key),
    })),
    ...["number", "long", "keyed small", "boom", "w3a"].map((text): Read => ({
      name: `search ${text}`,
      run: (from) => from.search(text, { limit: 10_000 }),
      some: true,
    })),
    ...conversationIds.flatMap((id) => ofConversation(id)),
    ...stateReads([null, ...branchIds]),
  ];
  for (const branchId of branchIds) reads.push(...await ofBranch(store, branchId));
  return reads;
}

function ofConversation(id: string): readonly Read[] {
  return [
    { name: `conversation ${id}`, run: (from) => from.findConversation(id) },
    { name: `branches ${id}`, run: (from) => from.branches(id) },
    { name: `archive ${id}`, run: async (from) => await archiveTextOf(from, id) },
  ];
}

async function ofBranch(store: Store, branchId: string): Promise<readonly Read[]> {
  const reads: Read[] = [
    { name: `branch ${branchId}`, run: (from) => from.findConversation(branchId) },
    { name: `dependencies ${branchId}`, run: (from) => from.dependencies(branchId) },
    { name: `queries ${branchId}`, run: (from) => from.queries(branchId) },
    { name: `newest queries ${branchId}`, run: (from) => from.queries(branchId, { newest: 3 }) },
    { name: `turns ${branchId}`, run: (from) => from.turns(branchId) },
    { name: `last turn ${branchId}`, run: (from) => from.previousTurn(branchId, "") },
    { name: `images ${branchId}`, run: (from) => from.liveImages(branchId) },
    { name: `heads ${branchId}`, run: (from) => from.variables(branchId) },
  ];
  for (const { name } of await store.variables(branchId)) {
    for (const options of [{}, { newest: 1 }]) {
      reads.push({
        name: `versions ${branchId} ${name} ${JSON.stringify(options)}`,
        run: (from) => from.variableVersions(branchId, name, options),
        stays: true,
      });
    }
  }
  for (const { queryId } of await store.queries(branchId)) reads.push(...await ofQuery(store, branchId, queryId));
  return reads;
}

async function ofQuery(store: Store, branchId: string, queryId: string): Promise<readonly Read[]> {
  const iterations = await store.iterations(queryId);
  const points = [-1, ...iterations.map(({ position }) => position)];
  const reads: readonly Omit<Read, "stays">[] = [
    { name: `query ${queryId}`, run: (from) => from.query(queryId) },
    { name: `found query ${queryId}`, run: (from) => from.findQuery(queryId) },
    { name: `extras ${queryId}`, run: (from) => from.queryExtras(queryId) },
    { name: `given ${queryId}`, run: (from) => from.givenImages(queryId) },
    { name: `turn before ${queryId}`, run: (from) => from.previousTurn(branchId, queryId) },
    { name: `iterations ${queryId}`, run: (from) => from.iterations(queryId) },
    { name: `some iterations ${queryId}`, run: (from) => from.iterations(queryId, { after: 3, limit: 4 }) },
    ...points.flatMap((position) => atPoint(branchId, { queryId, position })),
    ...iterations.flatMap(({ iterationId, position }): Read[] => [
      { name: `messages ${queryId} ${position}`, run: (from) => from.sentMessages(queryId, position) },
      { name: `children ${iterationId}`, run: (from) => from.subQueries(iterationId) },
      { name: `calls ${iterationId}`, run: (from) => from.subCalls(iterationId) },
    ]),
  ];
  // Another query of a sub-query's branch adds a sub-query. Older changes then precede it.
  return reads.map((read) => ({ ...read, stays: !/^(children|unchanged) /.test(read.name) }));
}

function atPoint(branchId: string, at: BranchPoint): readonly Read[] {
  const where = `at ${at.queryId} ${at.position}`;
  return [
    { name: `images ${where}`, run: (from) => from.liveImages(branchId, at) },
    { name: `heads ${where}`, run: (from) => from.variables(branchId, at) },
    { name: `versions ${where}`, run: (from) => from.variableVersions(branchId, "n1", { at }) },
  ];
}

function stateReads(branchIds: readonly (string | null)[]): readonly Read[] {
  const places = branchIds.flatMap((branchId): StatePlace[] => [
    { namespace: "flips.a", branchId },
    { namespace: "flips.b", branchId },
  ]);
  return [
    ...places.map((place): Read => ({
      name: `states ${place.branchId} ${place.namespace}`,
      run: async ({ states }) => {
        const keys = Array.from({ length: 31 }, (_, at) => `key ${at}`);
        return [
          await states.list(place, { limit: 100 }),
          await Promise.all(keys.map((key) => states.get(place, { key }))),
          await Promise.all(keys.map((key) => states.history(place, { key, limit: 5 }))),
        ];
      },
    })),
    { name: "all states", run: ({ states }) => states.query("flips.a", { limit: 500 }) },
    { name: "states with", run: ({ states }) => states.query("flips.b", { where: { at: 4 }, limit: 500 }) },
  ];
}

export function bytesIn(value: unknown): readonly string[] {
  if (value instanceof Uint8Array) return [createHash("sha256").update(value).digest("hex")];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(bytesIn) : [];
}

async function pieces(store: Store, large: string): Promise<readonly Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const piece of store.largePieces(large)) found.push(piece);
  return found;
}

export function digestOf(value: unknown): string {
  const text = JSON.stringify(value, (_key, one: unknown) => {
    if (one instanceof Uint8Array) return { bytes: createHash("sha256").update(one).digest("hex") };
    return one === undefined ? { none: true } : one;
  });
  return createHash("sha256").update(text ?? "undefined").digest("hex");
}

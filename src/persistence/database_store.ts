import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { DEFAULT_TENANT } from "../domain/kit/ids.ts";
import type { StateStore } from "../domain/records/extension_state.ts";
import type { Archive } from "../domain/records/history.ts";
import { beginQuery, findRequestKey } from "./begin_query.ts";
import { Children } from "./children.ts";
import { largePieces, putLarge } from "./content.ts";
import {
  branchTree,
  ConversationRows,
  findBranch,
  labelUse,
  latestConversation,
  listConversations,
  queryByPrefix,
  readTurns,
  removeConversation,
  runningQuery,
  setTitle,
} from "./conversations.ts";
import type { Database } from "./database.ts";
import { dropLarge, Eraser } from "./erasure.ts";
import { addSteered, Iterations, readIterations, readSentMessages } from "./iterations.ts";
import { readLogs, writeLogEntries } from "./logs.ts";
import { sweepLost, takeOverRun } from "./lost_runs.ts";
import { Owners } from "./owners.ts";
import { endQuery, endWithIteration, previousTurn, queriesOfBranch, queryById, readExtras } from "./queries.ts";
import { type IsAlive, renewLeases } from "./runs.ts";
import { searchRows } from "./search.ts";
import { ExtensionStates } from "./states.ts";
import type {
  ChildStore,
  ConversationMaintenance,
  ConversationStore,
  IterationStore,
  LargeTextStore,
  QueryStore,
  Store,
  VariableStore,
} from "./store.ts";
import { readDependencies, VariableRows } from "./variables.ts";

/** Stores of tenants that are kept. */
const MOST_VIEWS = 1000;

export interface DatabaseStoreOptions {
  /** The database as people know it. */
  readonly location: string;
  readonly now: () => number;
  readonly isAlive: IsAlive;
  /** How long to wait for another writing process. */
  readonly busyMs: number;
  readonly check: () => Promise<readonly string[]>;
  readonly fileFault: () => string;
  /** That of the files by default. */
  readonly writeFault?: () => Promise<string>;
  readonly asNode?: Store["asNode"];
  /** Converts an error of the database to `StoreError`. */
  readonly toStoreError: (error: unknown, location: string) => unknown;
}

interface Parts extends Pick<DatabaseStoreOptions, "location" | "now" | "isAlive" | "busyMs"> {
  readonly db: Database;
  /** The database with the rows of all tenants. */
  readonly all: Database;
  readonly eraser: Eraser;
}

/** The store in a database, which it owns. */
export function databaseStore(db: Database, options: DatabaseStoreOptions): Store {
  const views = new BoundedMap<string | null, Store>(MOST_VIEWS);
  const all = db.tenant === null ? db : db.of(null);
  const eraser = new Eraser({ ...options, db: all });
  const of = (tenant: string | null): Store => {
    const known = [db, all].find((one) => one.tenant === tenant);
    const store = views.get(tenant) ?? viewOf(known ?? db.of(tenant), { ...options, all, eraser, of });
    views.set(tenant, store);
    return store;
  };
  return of(db.tenant);
}

/** The store as the tenant of `db` sees it. */
function viewOf(
  db: Database,
  { all, eraser, of, ...options }: DatabaseStoreOptions & Pick<Parts, "all" | "eraser"> & {
    readonly of: (tenant: string | null) => Store;
  },
): Store {
  const { location, now, isAlive, busyMs, check, fileFault, toStoreError, asNode = null } = options;
  const { writeFault = () => Promise.resolve(fileFault()) } = options;
  const parts = { db, all, eraser, location, now, isAlive, busyMs };
  const converted = (error: unknown) => toStoreError(error, location);
  const owners = db.tenant === null ? null : new Owners(db);
  const guard = guardOf(converted, owners);
  return {
    location,
    tenant: db.tenant,
    of,
    states: db.tenant === null ? of(DEFAULT_TENANT).states : guarded(guard, stateStore(parts), "states."),
    ...guarded(guard, conversationStore(parts)),
    ...guarded(guard, conversationMaintenance(parts)),
    ...guarded(guard, queryStore(parts)),
    ...guarded(guard, iterationStore(parts)),
    ...guarded(guard, variableStore(parts)),
    ...guarded(guard, childStore(parts)),
    ...largeTextStore(parts, converted),
    ...guarded(guard, archive(parts)),
    ...{ check, fileFault, writeFault, asNode },
    // Logging must not fail a query: what cannot be written is dropped.
    log: (...entries) => writeLogEntries(all, { entries, now: now() }).catch(() => undefined),
    close: async () => {
      await eraser.end();
      await db.close();
    },
  };
}

function stateStore({ db, now }: Parts): StateStore {
  const states = new ExtensionStates(db, now);
  return {
    put: (...args) => states.put(...args),
    get: (...args) => states.get(...args),
    history: (...args) => states.history(...args),
    list: (...args) => states.list(...args),
    query: (...args) => states.query(...args),
    delete: (...args) => states.delete(...args),
  };
}

function conversationStore({ db, now }: Parts): ConversationStore {
  const rows = new ConversationRows(db, now);
  return {
    createConversation: (facts) => rows.create(facts),
    findConversation: (id) => findBranch(db, id),
    findExternal: (chat) => rows.findExternal(chat),
    ensureConversation: (facts) => rows.ensure(facts),
    latestConversation: (workspace) => latestConversation(db, workspace),
    listConversations: (options) => listConversations(db, options),
    fork: (fork) => rows.fork(fork),
    branches: (conversationId) => branchTree(db, conversationId),
  };
}

function conversationMaintenance({ db, all, eraser }: Parts): ConversationMaintenance {
  return {
    setTitle: (branchId, title) => setTitle(db, { branchId, title }),
    deleteConversation: async (conversationId) => {
      await removeConversation(db, conversationId);
      eraser.begin();
    },
    runningQuery: (conversationId) => runningQuery(db, conversationId),
    findQuery: (prefix) => queryByPrefix(db, prefix),
    labelUse: (since) => labelUse(all, since),
    turns: (branchId) => readTurns(db, branchId),
    exportConversation: async (conversationId, take) => {
      const { exportConversation } = await import("./archive.ts");
      await db.readBeside((tx) => exportConversation(tx, { conversationId, take }));
    },
    importConversation: async (archive, to) => {
      const { importConversation } = await import("./archive.ts");
      return await importConversation(db, { archive, ...to });
    },
  };
}

function queryStore({ db, all, now, isAlive: isAliveHere }: Parts): QueryStore {
  return {
    beginQuery: (query) => db.write((tx) => beginQuery(tx, { query, now: now(), isAlive: isAliveHere })),
    keyedQuery: (branchId, key) => findRequestKey(db, { branchId, key, now: now() }),
    addSteered: (queryId, sent) => db.writeRun((tx) => addSteered(tx, { queryId, sent, now: now() })),
    endQuery: async (queryId, end, last) => {
      const facts = { end, now: now() };
      if (last) await db.writeRun((tx) => endWithIteration(tx, { ...facts, ...last }));
      else await db.write((tx) => endQuery(tx, { ...facts, queryId }));
      db.ended(queryId);
    },
    query: (queryId) => queryById(db, queryId),
    queryExtras: (queryId) => readExtras(db, queryId),
    queries: (branchId, options) => queriesOfBranch(db, { branchId, ...options }),
    previousTurn: (branchId, before) => previousTurn(db, { branchId, before }),
    sweepLost: (isAlive = isAliveHere) => sweepLost(all, { isAlive, now }),
    takeOver: (queryId, owner) => db.write((tx) => takeOverRun(tx, { queryId, owner, now: now() })),
    renewLeases: (owner) => renewLeases(all, { owner, now: now() }),
  };
}

function iterationStore({ db, now }: Parts): IterationStore {
  const iterations = new Iterations(db, now);
  return {
    beginIteration: (iteration) => iterations.begin(iteration),
    endIteration: (iterationId, end) => iterations.end(iterationId, end),
    failIteration: (iteration, end) => iterations.fail(iteration, end),
    iterations: (queryId, range) => db.read((tx) => readIterations(tx, queryId, range)),
    sentMessages: (queryId, position) => readSentMessages(db, { queryId, position }),
  };
}

function variableStore({ db, now }: Parts): VariableStore {
  const variables = new VariableRows(db, now);
  return {
    variables: (branchId, at) => variables.heads(branchId, at),
    dependencies: (branchId) => readDependencies(db, branchId),
    liveImages: (branchId, at) => variables.liveImages(branchId, at),
    givenImages: (queryId) => variables.given(queryId),
    variableVersions: (branchId, name, options) => variables.versions(branchId, { name, ...options }),
    setScope: (branchId, change) => variables.setScope(branchId, change),
  };
}

function childStore({ db, now }: Parts): ChildStore {
  const children = new Children(db, now);
  return {
    createChildBranch: async (child) => {
      const branch = await children.createBranch(child);
      const { workspace = "", tenant = db.ownTenant } = await findBranch(db, branch.conversationId) ?? {};
      return { ...branch, workspace, tenant };
    },
    childQueries: (iterationId) => children.queries(iterationId, (queryId) => queryById(db, queryId)),
    recordSubCall: (call) => children.recordCall(call),
    subCalls: (iterationId) => children.calls(iterationId),
  };
}

function largeTextStore({ db, location, busyMs, now }: Parts, converted: Converted): LargeTextStore {
  const guard = guardOf(converted, null);
  return {
    putLarge: guard("putLarge", (...[pieces, { isOwn = false } = {}]: Parameters<LargeTextStore["putLarge"]>) => {
      return putLarge(db, pieces, isOwn ? {} : { claimedAt: now() });
    }),
    dropLarge: guard("dropLarge", (large: string) => dropLarge(db, { large, location, busyMs })),
    largePieces: async function* (large) {
      try {
        yield* largePieces(db, large);
      } catch (error) {
        throw converted(error);
      }
    },
  };
}

function archive({ db }: Parts): Archive {
  return {
    search: (text, filter) => searchRows(db, { text, filter }),
    logs: (filter) => readLogs(db, filter),
  };
}

type Converted = (error: unknown) => unknown;
type Guard = <M extends (...args: never[]) => Promise<unknown>>(name: string, method: M) => M;

/** Makes a method reject with `StoreError` if the database is the reason, and serve the tenant only. */
function guardOf(converted: Converted, owners: Owners | null): Guard {
  return (name, method) => {
    const work = owners ? owners.checked(name, method) : method;
    const guarded = async (...args: never[]): Promise<unknown> => {
      try {
        return await work(...args);
      } catch (error) {
        throw converted(error);
      }
    };
    return guarded as unknown as typeof method;
  };
}

/** These methods, each with the guard under its name. */
function guarded<T extends { readonly [K in keyof T]: (...args: never[]) => Promise<unknown> }>(
  guard: Guard,
  methods: T,
  prefix = "",
): T {
  const entries: [string, (...args: never[]) => Promise<unknown>][] = Object.entries(methods);
  return Object.fromEntries(
    entries.map(([name, method]) => [name, guard(prefix + name, method)]),
  ) as unknown as T;
}

import { TakenOverError, UsageError } from "../domain/errors.ts";
import { BoundedMap } from "../domain/kit/bounded_map.ts";
import { DEFAULT_TENANT, newId } from "../domain/kit/ids.ts";
import type { StateStore } from "../domain/records/extension_state.ts";
import type { Archive } from "../domain/records/history.ts";
import { Content, encodingOf, largePieces, putLarge } from "./long_values.ts";
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
  setWorkspace,
} from "./conversations.ts";
import { type Database, fromJson, insertRow, namedQuery, toJson } from "./database.ts";
import { dropLarge, Eraser } from "./erasure.ts";
import { ExtensionStates } from "./extension_states.ts";
import { addSteered, Iterations, readIterations, readSentMessages, setQuestion, setWaiting } from "./iterations.ts";
import { readLogs, writeLogEntries } from "./logs.ts";
import {
  attemptsOf,
  beginQuery,
  endQuery,
  endWithIteration,
  findRequestKey,
  previousTurn,
  queriesOfBranch,
  queryById,
  readExtras,
  sweepLost,
  takeOverRun,
} from "./queries.ts";
import { checkRun, type IsAlive, renewLeases } from "./runs.ts";
import { searchRows } from "./search.ts";
import {
  type Branch,
  type ChildStore,
  type ConversationMaintenance,
  type ConversationStore,
  type IterationStore,
  type LargeTextStore,
  type QueryStore,
  type Store,
  type VariableStore,
} from "./store.ts";
import { newestVariables, readDependencies, VariableRows, VariableWriter } from "./variables.ts";
import { NO_USAGE, type SubCall } from "../domain/query/model_call.ts";
import type { QueryEnd } from "../domain/query/query_schemas.ts";
import type { StoredQuery } from "../domain/query/stored_query.ts";
import type { NewChildBranch } from "../domain/records/conversations.ts";
import { readLineage } from "./branches.ts";

const MOST_VIEWS = 1000;

export interface DatabaseStoreOptions {
  readonly location: string;
  readonly now: () => number;
  readonly isAlive: IsAlive;
  readonly busyMs: number;
  readonly check: () => Promise<readonly string[]>;
  readonly fileFault: () => string;
  /** Throws if SQLite no longer writes to the file at the path. */
  readonly checkFile?: () => void;
  readonly writeFault?: () => Promise<string>;
  readonly asNode?: Store["asNode"];
  readonly toStoreError: (error: unknown, location: string) => unknown;
}

interface Parts extends Pick<DatabaseStoreOptions, "location" | "now" | "isAlive" | "busyMs"> {
  readonly checkFile: () => void;
  readonly db: Database;
  readonly all: Database;
  readonly eraser: Eraser;
  readonly unended: Unended;
}

/** The ends of queries that this process could not store, for example on a full disk. */
type Unended = Map<string, QueryEnd>;

export function databaseStore(db: Database, options: DatabaseStoreOptions): Store {
  const views = new BoundedMap<string | null, Store>(MOST_VIEWS);
  const all = db.tenant === null ? db : db.of(null);
  const eraser = new Eraser({ ...options, db: all });
  const unended: Unended = new Map();
  const of = (tenant: string | null): Store => {
    const known = [db, all].find((one) => one.tenant === tenant);
    const store = views.get(tenant) ?? viewOf(known ?? db.of(tenant), { ...options, all, eraser, unended, of });
    views.set(tenant, store);
    return store;
  };
  return of(db.tenant);
}

function viewOf(
  db: Database,
  { all, eraser, unended, of, ...options }: DatabaseStoreOptions & Pick<Parts, "all" | "eraser" | "unended"> & {
    readonly of: (tenant: string | null) => Store;
  },
): Store {
  const { location, now, isAlive, busyMs, check, fileFault, toStoreError, asNode = null } = options;
  const { writeFault = () => Promise.resolve(fileFault()), checkFile = () => {} } = options;
  const parts = { db, all, eraser, unended, location, now, isAlive, busyMs, checkFile };
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
    ...guarded(guard, queryStore(parts, { keepsEnds: asNode === null })),
    ...guarded(guard, iterationStore(parts)),
    ...guarded(guard, variableStore(parts)),
    ...guarded(guard, childStore(parts)),
    ...largeTextStore(parts, converted),
    ...guarded(guard, archive(parts)),
    ...{ check, fileFault, writeFault, asNode },
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
    setWorkspace: (conversationId, workspace) => setWorkspace(db, { conversationId, workspace }),
    deleteConversation: async (conversationId) => {
      await removeConversation(db, conversationId);
      eraser.begin();
    },
    runningQuery: (conversationId) => runningQuery(db, conversationId),
    findQuery: (prefix) => queryByPrefix(db, prefix),
    labelUse: (since) => labelUse(all, since),
    turns: (branchId) => readTurns(db, branchId),
    exportConversation: async (conversationId, take) => {
      const { exportConversation } = await import("./export_import.ts");
      await db.readBeside((tx) => exportConversation(tx, { conversationId, take }));
    },
    importConversation: async (archive, to) => {
      const { importConversation } = await import("./export_import.ts");
      return await importConversation(db, { archive, ...to });
    },
  };
}

/** If a node cannot store an end, another node continues the query, so a node keeps no ends. */
function queryStore(
  { db, all, unended, checkFile, now, isAlive: isAliveHere }: Parts,
  { keepsEnds }: { readonly keepsEnds: boolean },
): QueryStore {
  const endUnended = async (): Promise<number> => {
    let ended = 0;
    for (const [queryId, end] of unended) {
      const isStored = await all.write((tx) => endQuery(tx, { queryId, end, now: now() })).then(
        () => true,
        () => false,
      );
      if (isStored && unended.delete(queryId)) ended++;
    }
    return ended;
  };
  return {
    beginQuery: async (query) => {
      checkFile();
      await endUnended();
      return await db.write((tx) => beginQuery(tx, { query, now: now(), isAlive: isAliveHere }));
    },
    keyedQuery: (branchId, key) => findRequestKey(db, { branchId, key, now: now() }),
    addSteered: (queryId, sent) => db.writeRun((tx) => addSteered(tx, { queryId, sent, now: now() })),
    setQuestion: (queryId, approval) => db.writeRun((tx) => setQuestion(tx, { queryId, approval })),
    setWaiting: (queryId, texts) => db.writeRun((tx) => setWaiting(tx, { queryId, texts })),
    endQuery: async (queryId, end, last) => {
      const facts = { end, now: now() };
      try {
        if (last) await db.writeRun((tx) => endWithIteration(tx, { ...facts, ...last }));
        else await db.write((tx) => endQuery(tx, { ...facts, queryId }));
      } catch (error) {
        if (keepsEnds && !(error instanceof TakenOverError)) unended.set(queryId, end);
        throw error;
      }
      unended.delete(queryId);
      db.ended(queryId);
    },
    query: (queryId) => queryById(db, queryId),
    attempts: (queryId) => attemptsOf(db, queryId),
    queryExtras: (queryId) => readExtras(db, queryId),
    queries: (branchId, options) => queriesOfBranch(db, { branchId, ...options }),
    previousTurn: (branchId, before) => previousTurn(db, { branchId, before }),
    sweepLost: async (isAlive = isAliveHere) => await endUnended() + await sweepLost(all, { isAlive, now }),
    takeOver: (queryId, owner) => db.write((tx) => takeOverRun(tx, { queryId, owner, now: now() })),
    renewLeases: (owner) => renewLeases(all, { owner, now: now() }),
  };
}

function iterationStore({ db, now }: Parts): IterationStore {
  const iterations = new Iterations(db, now);
  return {
    beginIteration: (iteration) => iterations.begin(iteration),
    setDiffs: (iterationId, diffs) => iterations.setDiffs(iterationId, diffs),
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
    subQueries: (iterationId) => children.queries(iterationId, (queryId) => queryById(db, queryId)),
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
    largePieces: async function* (large, { isOwn = false } = {}) {
      try {
        if (isOwn && await encodingOf(db, large) === null) {
          throw new UsageError(
            `Cannot read ${large}: the store has no such bytes`,
          );
        }
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

const MOST_KNOWN = 10_000;

type Methods = Omit<
  Store,
  "location" | "tenant" | "states" | "of" | "asNode" | "check" | "fileFault" | "writeFault" | "log" | "close"
>;
type Kind = "conversation" | "branch" | "run" | "iteration";
type Rule = readonly (readonly [Kind, number, ...string[]])[];

const BRANCH: Rule = [["branch", 0]];
const CONVERSATION: Rule = [["conversation", 0]];
const RUN: Rule = [["run", 0]];
const ITERATION: Rule = [["iteration", 0]];
const OF_RUN: Rule = [["run", 0, "queryId"]];
const BRANCH_AT: Rule = [...BRANCH, ["run", 1, "queryId"]];
const STATE: Rule = [["branch", 0, "branchId"], ["iteration", 0, "iterationId"], ["run", 0, "queryId"]];
/** A method with this rule names no row by its id, or filters by tenant itself. */
const NONE: Rule = [];

const RULES: Readonly<Record<keyof Methods | `states.${keyof StateStore}`, Rule>> = {
  createConversation: NONE,
  findConversation: NONE,
  findExternal: NONE,
  ensureConversation: NONE,
  latestConversation: NONE,
  listConversations: NONE,
  fork: OF_RUN,
  branches: CONVERSATION,
  setTitle: BRANCH,
  setWorkspace: CONVERSATION,
  deleteConversation: CONVERSATION,
  runningQuery: CONVERSATION,
  findQuery: NONE,
  labelUse: NONE,
  turns: BRANCH,
  exportConversation: CONVERSATION,
  importConversation: NONE,
  beginQuery: [["branch", 0, "branchId"], ["run", 0, "retryOf"]],
  keyedQuery: BRANCH,
  addSteered: RUN,
  setQuestion: RUN,
  setWaiting: RUN,
  endQuery: [...RUN, ["iteration", 2, "iterationId"]],
  query: RUN,
  attempts: RUN,
  queryExtras: RUN,
  queries: BRANCH,
  previousTurn: [...BRANCH, ["run", 1]],
  sweepLost: NONE,
  takeOver: RUN,
  renewLeases: NONE,
  beginIteration: OF_RUN,
  setDiffs: ITERATION,
  endIteration: ITERATION,
  failIteration: OF_RUN,
  iterations: RUN,
  sentMessages: RUN,
  variables: BRANCH_AT,
  dependencies: BRANCH,
  liveImages: BRANCH_AT,
  givenImages: RUN,
  variableVersions: [...BRANCH, ["run", 2, "at", "queryId"]],
  setScope: BRANCH_AT,
  createChildBranch: [["branch", 0, "branchId"], ["iteration", 0, "iterationId"]],
  subQueries: ITERATION,
  recordSubCall: [["iteration", 0, "iterationId"]],
  subCalls: ITERATION,
  putLarge: NONE,
  largePieces: NONE,
  dropLarge: NONE,
  search: NONE,
  logs: NONE,
  "states.put": STATE,
  "states.get": STATE,
  "states.history": STATE,
  "states.list": STATE,
  "states.query": NONE,
  "states.delete": STATE,
};

type Method = (...args: never[]) => Promise<unknown>;

interface Named {
  readonly kind: Kind;
  readonly path: readonly (string | number)[];
  readonly id: string;
}

/** Replaces the id of another tenant's row by an unused id, so that this row seems to be missing. */
export class Owners {
  readonly #db: Database;
  readonly #known = new BoundedMap<string, boolean>(MOST_KNOWN);
  #reading: Promise<void> | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Methods begin in the order of their calls, even if a call waits for the tenant of a row. */
  checked<M extends Method>(name: string, method: M): M {
    const rule: Rule | undefined = Reflect.get(RULES, name);
    if (rule === undefined) throw new Error(`Cannot serve ${name} to a tenant: no rule exists for it`);
    const checked = async (...args: readonly unknown[]): Promise<unknown> => {
      const named = namedBy(rule, args);
      const unknown = named.filter(({ id }) => !this.#known.has(id));
      if (unknown.length > 0 || this.#reading) await this.#readAll(unknown);
      const result = await method(...named.reduce((given, one) => this.#seen(given, one), args) as never[]);
      this.#note(name, result);
      return result;
    };
    return checked as unknown as M;
  }

  #seen(args: readonly unknown[], { path, id }: Named): readonly unknown[] {
    const isOwn = this.#known.get(id);
    if (isOwn !== undefined) this.#known.set(id, isOwn);
    return isOwn === false ? replaced(args, path, `${id} `) : args;
  }

  async #readAll(unknown: readonly Named[]): Promise<void> {
    const read = Promise.all([this.#reading, ...unknown.map((one) => this.#read(one))]);
    const settled = read.then(() => {}, () => {}).then(() => {
      if (this.#reading === settled) this.#reading = null;
    });
    this.#reading = settled;
    await read;
  }

  /** A missing row stays unknown, because a later call may insert the row. */
  async #read({ kind, id }: Named): Promise<void> {
    const [row] = await TENANT_OF[kind](this.#db, { id });
    if (row) this.#known.set(id, row.tenant === this.#db.tenant);
  }

  #note(name: string, result: unknown): void {
    if (typeof result === "string" && /^(?:begin|fail)/.test(name)) this.#known.set(result, true);
    if (name !== "createConversation" && name !== "findConversation" && name !== "createChildBranch") return;
    if (result === null) return;
    const { conversationId, branchId } = result as Branch;
    for (const id of [conversationId, branchId]) this.#known.set(id, true);
  }
}

function namedBy(rule: Rule, args: readonly unknown[]): readonly Named[] {
  return rule.flatMap(([kind, ...path]) => {
    const id = path.reduce((value: unknown, key) => Reflect.get(Object(value), key), args);
    return typeof id === "string" ? [{ kind, path, id }] : [];
  });
}

function replaced<T extends object>(target: T, [key = "", ...rest]: readonly (string | number)[], value: string): T {
  const copy = Array.isArray(target) ? [...target] : { ...target };
  Reflect.set(copy, key, rest.length === 0 ? value : replaced(Object(Reflect.get(copy, key)), rest, value));
  return copy as T;
}

interface ById {
  readonly id: string;
}

const TENANT_OF = {
  conversation: namedQuery((db, { id }: ById) =>
    db.selectFrom("conversationSoul as c").select("c.tenant").where("c.id", "=", id)
  ),
  branch: namedQuery((db, { id }: ById) => branches(db).where("b.id", "=", id)),
  run: namedQuery((db, { id }: ById) => runs(db).where("r.id", "=", id)),
  iteration: namedQuery((db, { id }: ById) =>
    runs(db).innerJoin("iteration as i", "i.queryStateId", "r.id").where("i.id", "=", id)
  ),
};

function branches(db: Database) {
  return db.selectFrom("conversationState as b").innerJoin("conversationSoul as c", "c.id", "b.conversationSoulId")
    .select("c.tenant");
}

function runs(db: Database) {
  return branches(db).innerJoin("querySoul as q", "q.conversationStateId", "b.id")
    .innerJoin("queryState as r", "r.querySoulId", "q.id");
}

class Children {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  createBranch(child: NewChildBranch): Promise<Omit<Branch, "workspace" | "tenant">> {
    const { branchId: parent, iterationId, depth, title } = child;
    return this.#db.write(async (tx) => {
      await checkRun(tx, { iterationId });
      const content = new Content(tx);
      const [branchId, createdAt] = [newId(), this.#now()];
      const { conversationSoulId: conversationId } = await tx.selectFrom("conversationState")
        .select("conversationSoulId").where("id", "=", parent).executeTakeFirstOrThrow();
      const newest = await tx.selectFrom("conversationState").select((s) => s.fn.max("version").as("version"))
        .where("conversationSoulId", "=", conversationId).executeTakeFirst();
      await insertRow(tx, "conversationState", {
        id: branchId,
        conversationSoulId: conversationId,
        // A branch with a parent is a fork, which sees the variables of the parent. A sub-query must not see them.
        parentStateId: null,
        title: await content.putText(title),
        version: (newest?.version ?? 0) + 1,
        metadata: toJson({ child: true }),
        createdAt,
        queries: 0,
      });
      await insertRow(tx, "childBranch", { conversationStateId: branchId, iterationId, depth, createdAt });
      const copied = await this.#newestCells(tx, { branchId: parent, names: child.copies });
      const writer = new VariableWriter(content, { branchId, iterationId, now: createdAt });
      await writer.given(child.images);
      await writer.copied(copied);
      return { conversationId, branchId, title: title.toWellFormed(), createdAt };
    });
  }

  async queries(
    iterationId: string,
    byId: (queryId: string) => Promise<StoredQuery | null>,
  ): Promise<readonly (StoredQuery & { readonly depth: number })[]> {
    const found = await this.#queryIds(iterationId);
    const queries = await Promise.all(found.map(({ queryId }) => byId(queryId)));
    return queries.flatMap((query, at) => query ? [{ ...query, depth: found[at]?.depth ?? 1 }] : []);
  }

  async #queryIds(iterationId: string): Promise<readonly { readonly queryId: string; readonly depth: number }[]> {
    return await this.#db.selectFrom("childBranch as c")
      .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
      .innerJoin("queryState as s", "s.querySoulId", "q.id").select(["s.id as queryId", "c.depth"])
      .where("c.iterationId", "=", iterationId).orderBy("c.rowid").orderBy("s.rowid").execute();
  }

  recordCall(call: SubCall): Promise<void> {
    return this.#db.write(async (tx) => {
      await checkRun(tx, call);
      const content = new Content(tx);
      const text = async (one: string | null) => one === null ? null : await content.putText(one);
      await insertRow(tx, "subCall", {
        id: newId(),
        iterationId: call.iterationId,
        llmProvider: call.provider,
        llmModel: call.model,
        prompt: await content.putText(call.prompt),
        reply: await text(call.reply),
        error: await text(call.error),
        usage: toJson({ ...call.usage }),
        costUsd: call.costUsd,
        durationMs: Math.max(0, Math.round(call.ms)),
        createdAt: this.#now(),
      });
    });
  }

  async calls(iterationId: string): Promise<readonly (SubCall & { readonly createdAt: number })[]> {
    return await this.#db.read((tx) => this.#readCalls(tx, iterationId));
  }

  async #readCalls(tx: Database, iterationId: string): ReturnType<Children["calls"]> {
    const rows = await tx.selectFrom("subCall as c").selectAll("c").where("c.iterationId", "=", iterationId)
      .orderBy("c.rowid").execute();
    const content = new Content(tx);
    await content.load(rows.flatMap((row) => [row.prompt, row.reply, row.error]));
    return rows.map((row) => ({
      iterationId: row.iterationId,
      provider: row.llmProvider,
      model: row.llmModel,
      prompt: content.text(row.prompt),
      reply: row.reply === null ? null : content.text(row.reply),
      error: row.error === null ? null : content.text(row.error),
      usage: { ...NO_USAGE, ...fromJson<SubCall["usage"]>(row.usage) },
      costUsd: row.costUsd,
      ms: row.durationMs,
      createdAt: row.createdAt,
    }));
  }

  async #newestCells(
    tx: Database,
    { branchId, names }: { readonly branchId: string; readonly names: readonly string[] },
  ) {
    if (names.length === 0) return [];
    const rows = await newestVariables(tx, { lineage: await readLineage(tx, branchId), names });
    return rows.map(({ name, expr, result, metadata }) => ({ name: name ?? "", cells: { expr, result, metadata } }));
  }
}

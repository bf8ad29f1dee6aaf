import { BoundedMap } from "../domain/kit/bounded_map.ts";
import type { StateStore } from "../domain/records/extension_state.ts";
import { type Database, namedQuery } from "./database.ts";
import type { Branch, Store } from "./store.ts";

const MOST_KNOWN = 10_000;

type Methods = Omit<
  Store,
  "location" | "tenant" | "states" | "of" | "asNode" | "check" | "fileFault" | "writeFault" | "log" | "close"
>;
type Kind = "conversation" | "branch" | "run" | "iteration";
/** Where the arguments of a method name rows: the kind of row, and the position and keys that lead to its id. */
type Rule = readonly (readonly [Kind, number, ...string[]])[];

const BRANCH: Rule = [["branch", 0]];
const CONVERSATION: Rule = [["conversation", 0]];
const RUN: Rule = [["run", 0]];
const ITERATION: Rule = [["iteration", 0]];
const OF_RUN: Rule = [["run", 0, "queryId"]];
const BRANCH_AT: Rule = [...BRANCH, ["run", 1, "queryId"]];
const STATE: Rule = [["branch", 0, "branchId"], ["iteration", 0, "iterationId"], ["run", 0, "queryId"]];
/** For methods that look for rows, whose queries see those of the tenant only; that work for the whole process; or that
 * name content by its hash. */
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
  endQuery: [...RUN, ["iteration", 2, "iterationId"]],
  query: RUN,
  queryExtras: RUN,
  queries: BRANCH,
  previousTurn: [...BRANCH, ["run", 1]],
  sweepLost: NONE,
  takeOver: RUN,
  renewLeases: NONE,
  beginIteration: OF_RUN,
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
  childQueries: ITERATION,
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

/** Keeps methods that name rows from rows of other tenants: they get an id that no row has, as if the row did not
 * exist. */
export class Owners {
  readonly #db: Database;
  /** Whether a row is the tenant's, by its id; rows never change their tenant. */
  readonly #known = new BoundedMap<string, boolean>(MOST_KNOWN);
  /** The end of the last read of rows that were not known; null while there is none. */
  #reading: Promise<void> | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The method of this name with its rule. Calls keep their order, also if rows have to be read for one of them. */
  checked<M extends Method>(name: string, method: M): M {
    const rule: Rule | undefined = Reflect.get(RULES, name);
    if (rule === undefined) throw new Error(`Cannot serve ${name} to a tenant: it has no rule`);
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

  /** Nothing is known of a row that does not exist: it may be made later. */
  async #read({ kind, id }: Named): Promise<void> {
    const [row] = await TENANT_OF[kind](this.#db, { id });
    if (row) this.#known.set(id, row.tenant === this.#db.tenant);
  }

  /** What the tenant has made or found is its own. */
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

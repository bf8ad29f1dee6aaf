import { type ExpressionBuilder, sql } from "kysely";
import { UsageError } from "../domain/errors.ts";
import { newId } from "../domain/kit/ids.ts";
import { clip } from "../domain/kit/text.ts";
import type {
  FoundState,
  StateEntry,
  StatePlace,
  StateQuery,
  StateStore,
  StateVersion,
} from "../domain/records/extension_state.ts";
import { type BranchSegment, isShownIteration, readLineage, readLineageAt } from "./branches.ts";
import { Content } from "./long_values.ts";
import { type Database, insertRow, isSeen } from "./database.ts";
import { checkRun } from "./runs.ts";
import type { DatabaseSchema } from "./tables.ts";
import { type Moment, newestMoment } from "./variables.ts";

const MAX_CHARS = 1 << 20, MAX_KEYS = 10_000, MAX_VERSIONS = 1000;

type Joined = DatabaseSchema & {
  i: DatabaseSchema["iteration"];
  s: DatabaseSchema["queryState"];
  q: DatabaseSchema["querySoul"];
};

export class ExtensionStates implements StateStore {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  put(...[place, { key, value, ifVersion }]: Parameters<StateStore["put"]>): Promise<number> {
    const text = JSON.stringify(value);
    if (text.length > MAX_CHARS) {
      throw new UsageError(
        `Cannot store ${key}: its value has ${text.length} characters of JSON, more than the limit of ${MAX_CHARS}; ` +
          "store a long text with putBytes",
      );
    }
    return this.#change(place, async (tx) => {
      const content = new Content(tx);
      const [newest] = await this.#shown(tx, { place, key, limit: 1 });
      await content.load([newest?.value]);
      const before = newest?.value === null || newest === undefined ? null : content.text(newest.value);
      const version = before === null ? 0 : newest?.version ?? 0;
      if (ifVersion !== undefined && ifVersion !== version) {
        const found = version === 0 ? "it has no value" : `its version is ${version}`;
        const required = ifVersion === 0 ? "no value" : `version ${ifVersion}`;
        throw new UsageError(
          `Cannot store ${key}: ${found}, and ifVersion requires ${required}; read the state again`,
        );
      }
      if (before === text) return version;
      if (newest === undefined) await this.#makeRoom(tx, place);
      return await this.#insert(tx, { place, key, value: await content.putText(text), after: newest?.version ?? 0 });
    });
  }

  get(...[place, { key, version }]: Parameters<StateStore["get"]>): Promise<StateVersion | null> {
    return this.#db.read(async (tx) => {
      const [row] = await this.#shown(tx, { place, key, version, limit: 1 });
      const [found] = row ? await stateVersions(tx, [row]) : [];
      return found === undefined || (found.value === undefined && version === undefined) ? null : found;
    });
  }

  history(...[place, { key, limit }]: Parameters<StateStore["history"]>): Promise<readonly StateVersion[]> {
    return this.#db.read(async (tx) => await stateVersions(tx, await this.#shown(tx, { place, key, limit })));
  }

  list(...[place, { prefix = "", limit }]: Parameters<StateStore["list"]>): Promise<readonly StateEntry[]> {
    return this.#db.read(async (tx) => {
      const found = new Map<string, StateRow>();
      for (const segment of await stateSegments(tx, place)) {
        const wanted = stateRows(tx, { place, segment })
          .where((on) => on(on.fn("substr", ["i.key", on.val(1), on.val(prefix.length)]), "=", prefix));
        const { rows } = await sql<StateRow>`${
          tx.dialect.newestVersions({
            by: "e.key",
            columns: "e.key, e.value, e.created_at",
            from: sql`(${wanted.select(["i.key", "i.value", "i.createdAt", "i.version"])}) e`,
          })
        }`.execute(tx);
        for (const row of rows) if (!found.has(row.key)) found.set(row.key, row);
      }
      const there = [...found.values()].filter(({ value }) => value !== null);
      return there.sort((a, b) => a.key < b.key ? -1 : 1).slice(0, limit)
        .map(({ key, version, createdAt: at }) => ({ key, version, at }));
    });
  }

  query(namespace: string, query: StateQuery): Promise<readonly FoundState[]> {
    return this.#db.read((tx) => findStates(tx, { namespace, query }));
  }

  delete(place: StatePlace, key: string): Promise<boolean> {
    return this.#change(place, async (tx) => {
      const [newest] = await this.#shown(tx, { place, key, limit: 1 });
      if (newest === undefined || newest.value === null) return false;
      if (place.branchId === null) await ownRows(tx, { place, key }).execute();
      else await this.#insert(tx, { place, key, value: null, after: newest.version });
      return true;
    });
  }

  async #shown(
    tx: Database,
    { place, key, version, limit }: {
      readonly place: StatePlace;
      readonly key: string;
      readonly version?: number | undefined;
      readonly limit: number;
    },
  ): Promise<readonly StateRow[]> {
    const found: StateRow[] = [];
    for (const segment of await stateSegments(tx, place)) {
      const wanted = stateRows(tx, { place, segment }).select(["i.key", "i.version", "i.value", "i.createdAt"])
        .where("i.key", "=", key).orderBy("i.version", "desc").limit(limit - found.length);
      found.push(...await (version === undefined ? wanted : wanted.where("i.version", "=", version)).execute());
      if (found.length >= limit) break;
    }
    return found;
  }

  async #insert(
    tx: Database,
    { place, key, value, after }: {
      readonly place: StatePlace;
      readonly key: string;
      readonly value: string | null;
      readonly after: number;
    },
  ): Promise<number> {
    const own = await ownNewest(tx, { place, key });
    const version = Math.max(after, own) + 1;
    const { queryId, position } = await momentOf(tx, place);
    await insertRow(tx, "extensionState", {
      id: newId(),
      namespace: place.namespace,
      conversationStateId: place.branchId,
      queryStateId: queryId,
      position,
      key,
      version,
      value,
      createdAt: this.#now(),
      ...(place.branchId === null ? { tenant: tx.ownTenant } : {}),
    });
    if (version > MAX_VERSIONS && !await isForked(tx, place.branchId)) {
      await ownRows(tx, { place, key }).where("version", "<=", version - MAX_VERSIONS).execute();
    }
    return version;
  }

  #change<T>(place: StatePlace, work: (tx: Database) => Promise<T>): Promise<T> {
    return this.#db.write(async (tx) => {
      await tx.lock(`state ${place.namespace} ${place.branchId ?? tx.ownTenant}`);
      await checkRun(tx, place);
      return await work(tx);
    });
  }

  async #makeRoom(tx: Database, place: StatePlace): Promise<void> {
    if (await keysIn(tx, place) < MAX_KEYS) return;
    const why = place.branchId === null
      ? `it has ${MAX_KEYS} keys, the limit; delete some keys`
      : `this branch has had ${MAX_KEYS} keys, the limit, and deleted keys count too; reuse its keys`;
    throw new UsageError(`Cannot store another state of ${place.namespace}: ${why}`);
  }
}

function stateRows(
  tx: Database,
  { place, segment }: { readonly place: StatePlace; readonly segment: BranchSegment | null },
) {
  const rows = tx.selectFrom("extensionState as i").leftJoin("queryState as s", "s.id", "i.queryStateId")
    .leftJoin("querySoul as q", "q.id", "s.querySoulId").where("i.namespace", "=", place.namespace);
  if (segment === null) return rows.where("i.conversationStateId", "is", null).where("i.tenant", "=", tx.ownTenant);
  return rows.where("i.conversationStateId", "=", segment.branchId).where((on) => {
    // A state has the position of an iteration, which is enough for `isShownIteration`.
    const joined = on as unknown as ExpressionBuilder<Joined, "q" | "s" | "i">;
    return on.or([on("i.queryStateId", "is", null), isShownIteration(joined, segment)]);
  });
}

function ownRows(tx: Database, { place, key }: { readonly place: StatePlace; readonly key: string }) {
  return tx.deleteFrom("extensionState").where("namespace", "=", place.namespace).where("key", "=", key)
    .where(isIn(tx, place.branchId));
}

async function ownNewest(
  tx: Database,
  { place: { namespace, branchId }, key }: { readonly place: StatePlace; readonly key: string },
): Promise<number> {
  const row = await tx.selectFrom("extensionState").select((row) => row.fn.max("version").as("newest"))
    .where("namespace", "=", namespace).where("key", "=", key).where(isIn(tx, branchId)).executeTakeFirst();
  return row?.newest ?? 0;
}

async function keysIn(tx: Database, { namespace, branchId }: StatePlace): Promise<number> {
  const { keys } = await tx.selectFrom("extensionState")
    .select((row) => row.fn.count<number>("key").distinct().as("keys"))
    .where("namespace", "=", namespace).where(isIn(tx, branchId)).executeTakeFirstOrThrow();
  return keys;
}

function isIn(tx: Database, branchId: string | null) {
  return (on: ExpressionBuilder<DatabaseSchema, "extensionState">) =>
    branchId === null
      ? on.and([on("conversationStateId", "is", null), on("tenant", "=", tx.ownTenant)])
      : on("conversationStateId", "=", branchId);
}

async function isForked(tx: Database, branchId: string | null): Promise<boolean> {
  if (branchId === null) return false;
  const [fork, child] = await Promise.all([
    tx.selectFrom("conversationState").select("id").where("parentStateId", "=", branchId).limit(1).executeTakeFirst(),
    tx.selectFrom("childBranch as c").innerJoin("iteration as i", "i.id", "c.iterationId")
      .innerJoin("queryState as s", "s.id", "i.queryStateId").innerJoin("querySoul as q", "q.id", "s.querySoulId")
      .select("c.iterationId").where("q.conversationStateId", "=", branchId).limit(1).executeTakeFirst(),
  ]);
  return fork !== undefined || child !== undefined;
}

async function momentOf(tx: Database, { branchId, iterationId, queryId }: StatePlace): Promise<Moment> {
  if (branchId === null) return { queryId: null, position: -1 };
  if (iterationId) {
    const row = await tx.selectFrom("iteration").select(["queryStateId", "position"]).where("id", "=", iterationId)
      .executeTakeFirstOrThrow();
    return { queryId: row.queryStateId, position: row.position };
  }
  return queryId ? { queryId, position: -1 } : await newestMoment(tx, branchId);
}

/** A sub-query continues from the iteration that started it, so its lineage includes the branch of that iteration. */
async function readStateLineage(db: Database, branchId: string): Promise<readonly BranchSegment[]> {
  const lineage: BranchSegment[] = [...await readLineage(db, branchId)];
  const met = new Set<string>();
  for (;;) {
    const last = lineage.at(-1)?.branchId ?? branchId;
    const point = met.has(last) ? undefined : await db.selectFrom("childBranch as c")
      .innerJoin("iteration as i", "i.id", "c.iterationId").innerJoin("queryState as s", "s.id", "i.queryStateId")
      .innerJoin("querySoul as q", "q.id", "s.querySoulId")
      .select(["q.conversationStateId as parentId", "q.id as soulId", "q.createdAt as soulCreatedAt"])
      .select(["s.id as queryId", "i.position"]).where("c.conversationStateId", "=", last).executeTakeFirst();
    if (!point) return lineage;
    met.add(last);
    lineage.push(...await readLineageAt(db, point));
  }
}

type StateRow = Pick<DatabaseSchema["extensionState"], "key" | "version" | "value" | "createdAt">;

async function stateVersions(tx: Database, rows: readonly StateRow[]): Promise<readonly StateVersion[]> {
  const content = new Content(tx);
  await content.load(rows.map(({ value }) => value));
  return rows.map(({ version, value, createdAt: at }) => ({
    version,
    value: value === null ? undefined : JSON.parse(content.text(value)),
    at,
  }));
}

/** The branch comes before its ancestors. Null means the global state. */
async function stateSegments(
  tx: Database,
  { branchId }: StatePlace,
): Promise<readonly (BranchSegment | null)[]> {
  return branchId === null ? [null] : await readStateLineage(tx, branchId);
}

const PART = /^[\w$@ -]{1,100}$/;

interface Row {
  readonly conversationId: string | null;
  readonly key: string;
  readonly version: number;
  readonly value: string;
  readonly at: number;
}

async function findStates(
  db: Database,
  { namespace, query }: { readonly namespace: string; readonly query: StateQuery },
): Promise<readonly FoundState[]> {
  const { conversationId, prefix = "", where = {}, since = 0, limit } = query;
  const conditions = Object.entries(where).map(([path, value]) => equal(db, path, value));
  if (conversationId === null) conditions.push(sql`conversation_id IS NULL`);
  if (typeof conversationId === "string") conditions.push(sql`conversation_id = ${conversationId}`);
  if (since > 0) conditions.push(sql`at >= ${since}`);
  const all = [sql`cell IS NOT NULL`, ...conditions];
  const { rows } = await sql<Row>`
    WITH newest AS (${newestStates(db, { namespace, prefix })}), whole AS (
      SELECT conversation_id, key, version, at, stored, cell, ${db.dialect.wholeText("cell")} AS text FROM newest
    )
    SELECT conversation_id, key, version, cell AS value, at FROM whole WHERE ${sql.join(all, sql` AND `)}
    ORDER BY stored DESC LIMIT ${sql.lit(limit)}`.execute(db);
  const content = new Content(db);
  await content.load(rows.map(({ value }) => value));
  return rows.map(({ conversationId, key, version, value, at }) => (
    { conversationId, key, version, at, value: JSON.parse(content.text(value)) }
  ));
}

function newestStates(db: Database, { namespace, prefix }: { readonly namespace: string; readonly prefix: string }) {
  const from = sql`extension_state e LEFT JOIN conversation_state b ON b.id = e.conversation_state_id
    LEFT JOIN conversation_soul c ON c.id = b.conversation_soul_id
    LEFT JOIN query_state s ON s.id = e.query_state_id
    LEFT JOIN query_soul q ON q.id = s.query_soul_id
    WHERE e.namespace = ${namespace} AND substr(e.key, 1, ${prefix.length}) = ${prefix}
      AND ${isSeen(db, "coalesce(e.tenant, c.tenant)")} AND (q.id IS NULL OR s.version = q.runs - 1)`;
  return db.dialect.newestVersions({
    from,
    by: "e.conversation_state_id, e.key",
    columns: "b.conversation_soul_id AS conversation_id, e.key, e.value AS cell, e.created_at AS at, e.rowid AS stored",
  });
}

function equal(db: Database, ...[path, value]: readonly [string, string | number | boolean | null]) {
  const parts = path.split(".");
  if (!parts.every((part) => PART.test(part))) {
    throw new UsageError(
      `Cannot find states at ${
        clip(path, 100)
      }: each part between dots must have 1 to 100 of the characters A-Z, a-z, ` +
        "0-9, _, $, @, - and space",
    );
  }
  return db.dialect.hasJson("text", parts, value);
}

import { sql } from "kysely";
import { newId } from "../domain/kit/ids.ts";
import { LOG_LEVELS, type LogEntry, type LogFilter, logLevelOf, type LogRow } from "../domain/records/history.ts";
import { Content } from "./long_values.ts";
import { type Database, fromJson, insertRow, isSeen, namedQuery } from "./database.ts";
import type { DatabaseSchema } from "./tables.ts";

type Scope = Pick<
  DatabaseSchema["log"],
  "conversationSoulId" | "conversationStateId" | "querySoulId" | "queryStateId" | "iterationId"
>;

/** If an entry names a missing conversation, query or iteration, the data of its row keeps the id. */
export async function writeLogEntries(
  db: Database,
  { entries, now }: { readonly entries: readonly LogEntry[]; readonly now: number },
): Promise<void> {
  await db.write(async (tx) => {
    // The lock makes entries visible in the order of their numbers, so that a reader can continue after the last
    // number.
    await tx.lock("log");
    const scopes = new Scopes(tx);
    const content = new Content(tx);
    for (const { level, event, data, at, block, ...ids } of entries) {
      const scope = await scopes.of(ids);
      const expression = await expressionOf(tx, { ...scope, block });
      await insertRow(tx, "log", {
        id: newId(),
        level,
        event: event.toWellFormed().replaceAll("\0", "\ufffd"),
        data: await content.putText(
          printable({ ...data, ...(block === undefined ? {} : { block }), ...lost(ids, scope) }),
        ),
        ...scope,
        expressionSoulId: expression?.soulId ?? null,
        expressionStateId: expression?.stateId ?? null,
        createdAt: at ?? now,
      });
    }
  });
}

type Ids = Pick<LogEntry, "conversationId" | "queryId" | "iterationId">;

const NO_SCOPE: Scope = {
  conversationSoulId: null,
  conversationStateId: null,
  querySoulId: null,
  queryStateId: null,
  iterationId: null,
};

const conversationById = namedQuery((db, { conversationId }: { readonly conversationId: string }) =>
  db.selectFrom("conversationSoul").select("id").where("id", "=", conversationId)
);

const iterationScope = namedQuery((db, { iterationId }: { readonly iterationId: string }) =>
  queryScopes(db).innerJoin("iteration as i", "i.queryStateId", "s.id").select("i.id as iterationId")
    .where("i.id", "=", iterationId)
);

const queryScope = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  queryScopes(db).select(sql<null>`NULL`.as("iterationId")).where("s.id", "=", queryId)
);

function queryScopes(db: Database) {
  return db.selectFrom("queryState as s")
    .innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .innerJoin("conversationState as b", "b.id", "q.conversationStateId")
    .select(["b.conversationSoulId", "b.id as conversationStateId", "q.id as querySoulId", "s.id as queryStateId"]);
}

async function firstScope(rows: Promise<readonly Scope[]>): Promise<Scope> {
  return (await rows)[0] ?? NO_SCOPE;
}

class Scopes {
  readonly #db: Database;
  readonly #known = new Map<string, Scope>();

  constructor(db: Database) {
    this.#db = db;
  }

  async of({ conversationId, queryId, iterationId }: Ids): Promise<Scope> {
    const iteration = iterationId === undefined
      ? NO_SCOPE
      : await this.#find(iterationId, () => firstScope(iterationScope(this.#db, { iterationId })));
    if (iteration.iterationId !== null) return iteration;
    const query = queryId === undefined
      ? NO_SCOPE
      : await this.#find(queryId, () => firstScope(queryScope(this.#db, { queryId })));
    if (query.queryStateId !== null) return query;
    if (conversationId === undefined) return NO_SCOPE;
    return await this.#find(conversationId, async () => {
      const [row] = await conversationById(this.#db, { conversationId });
      return { ...NO_SCOPE, conversationSoulId: row?.id ?? null };
    });
  }

  async #find(id: string, read: () => Promise<Scope>): Promise<Scope> {
    const known = this.#known.get(id) ?? await read();
    this.#known.set(id, known);
    return known;
  }
}

async function expressionOf(
  db: Database,
  { iterationId, block }: Pick<Scope, "iterationId"> & { readonly block: number | undefined },
) {
  if (iterationId === null || block === undefined) return null;
  const rows = await db.selectFrom("expressionState as e").innerJoin(
    "expressionSoul as s",
    "s.id",
    "e.expressionSoulId",
  )
    .select(["e.id as stateId", "s.id as soulId", "s.metadata"])
    .where("e.iterationId", "=", iterationId).where("s.kind", "<>", "var").execute();
  return rows.find(({ metadata }) => fromJson<{ readonly index: number }>(metadata).index === block) ?? null;
}

function lost({ conversationId, queryId, iterationId }: Ids, scope: Scope): Ids {
  return {
    ...(conversationId === undefined || scope.conversationSoulId === conversationId ? {} : { conversationId }),
    ...(queryId === undefined || scope.queryStateId === queryId ? {} : { queryId }),
    ...(iterationId === undefined || scope.iterationId === iterationId ? {} : { iterationId }),
  };
}

function printable(data: Readonly<Record<string, unknown>>): string {
  const seen = new WeakSet<object>();
  return JSON.stringify(data, (_key, value: unknown) => {
    if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") return String(value);
    if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack };
    if (typeof value !== "object" || value === null) return value;
    if (seen.has(value)) return "[again]";
    seen.add(value);
    return value;
  });
}

export async function readLogs(db: Database, filter: LogFilter): Promise<readonly LogRow[]> {
  const { limit, level = "trace", conversationId, queryId, since, after } = filter;
  const levels = LOG_LEVELS.slice(LOG_LEVELS.indexOf(level));
  let wanted = db.selectFrom("log")
    .select(["level", "event", "data", "conversationSoulId", "queryStateId", "iterationId", "createdAt"])
    .select(sql<number>`rowid`.as("seq"))
    .orderBy(sql`rowid`, after === undefined ? "desc" : "asc").limit(Math.max(0, Math.floor(limit)));
  if (db.tenant !== null) {
    wanted = wanted.where((on) =>
      on.exists(
        on.selectFrom("conversationSoul as c").select("c.id").where(isSeen(db, "c.tenant"))
          .whereRef("c.id", "=", "log.conversationSoulId"),
      )
    );
  }
  if (levels.length < LOG_LEVELS.length) wanted = wanted.where("level", "in", levels);
  if (conversationId !== undefined) wanted = wanted.where("conversationSoulId", "=", conversationId);
  if (queryId !== undefined) wanted = wanted.where("queryStateId", "=", queryId);
  if (since !== undefined) wanted = wanted.where("createdAt", ">=", since);
  if (after !== undefined) wanted = wanted.where(sql<boolean>`rowid > ${after}`);
  const rows = await wanted.execute();
  if (after === undefined) rows.reverse();
  const content = new Content(db);
  await content.load(rows.map(({ data }) => data));
  return rows.map((row) => ({
    seq: row.seq,
    at: row.createdAt,
    level: logLevelOf(row.level) ?? "info",
    event: row.event,
    data: fromJson<Record<string, unknown>>(content.text(row.data ?? "{}")),
    ...(row.conversationSoulId === null ? {} : { conversationId: row.conversationSoulId }),
    ...(row.queryStateId === null ? {} : { queryId: row.queryStateId }),
    ...(row.iterationId === null ? {} : { iterationId: row.iterationId }),
  }));
}

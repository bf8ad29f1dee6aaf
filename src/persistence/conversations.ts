import { type RawBuilder, sql } from "kysely";
import { BusyError, UsageError } from "../domain/errors.ts";
import { together } from "../domain/kit/concurrency.ts";
import { newId } from "../domain/kit/ids.ts";
import { oneLine } from "../domain/kit/text.ts";
import { type StoredApproval, titleOfRequest } from "../domain/query/stored_query.ts";
import type {
  ConversationFilter,
  ConversationSummary,
  ExternalChat,
  LabelUse,
  NewConversation,
  NewFork,
  QueryIterations,
} from "../domain/records/conversations.ts";
import {
  type BranchSegment,
  createFork,
  type ForkPoint,
  isShownIteration,
  isShownRun,
  readLineage,
} from "./branches.ts";
import { Content } from "./long_values.ts";
import {
  Damage,
  type Database,
  fromJson,
  idsWith,
  insertRow,
  isSeen,
  namedQuery,
  toJson,
  updateRow,
} from "./database.ts";
import { noteErasable } from "./erasure.ts";
import type { Branch, BranchNode } from "./store.ts";

export class ConversationRows {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  create(facts: NewConversation): Promise<Branch> {
    return this.#db.write((tx) => this.#insert(tx, facts));
  }

  async ensure(facts: NewConversation & ExternalChat): Promise<Branch> {
    const made = await this.#db.write(async (tx) => {
      await tx.lock(`chat ${facts.channel} ${facts.externalId}`);
      return await externalIn(tx, facts) === null ? await this.#insert(tx, facts) : null;
    });
    // If both find nothing, another process has deleted the conversation.
    return made ?? await this.findExternal(facts) ?? await this.ensure(facts);
  }

  async findExternal(chat: ExternalChat): Promise<Branch | null> {
    const id = await externalIn(this.#db, chat);
    return id === null ? null : await findBranch(this.#db, id);
  }

  async fork(fork: NewFork): Promise<Branch> {
    const id = await createFork(this.#db, { fork, now: this.#now() });
    const branch = await findBranch(this.#db, id);
    if (!branch) {
      throw new UsageError(
        `Cannot fork at request ${fork.queryId}: its conversation was deleted in the meantime; choose another conversation`,
      );
    }
    return branch;
  }

  async #insert(
    tx: Database,
    { title, channel, workspace, externalId, untitled = false }: NewConversation,
  ): Promise<Branch> {
    const content = new Content(tx);
    const createdAt = this.#now();
    const [conversationId, branchId] = [newId(), newId()];
    const tenant = tx.ownTenant;
    const metadata = toJson({ channel, workspace, ...(externalId === undefined ? {} : { externalId }) });
    const soul = {
      id: conversationId,
      metadata: await content.putText(metadata),
      createdAt,
      activity: await tx.dialect.nextActivity(tx),
      tenant,
    };
    await insertRow(tx, "conversationSoul", soul);
    await insertRow(tx, "conversationState", {
      id: branchId,
      conversationSoulId: conversationId,
      parentStateId: null,
      title: await content.putText(title),
      version: 0,
      metadata: toJson(untitled ? { titledBy: "nobody" } : {}),
      createdAt,
      queries: 0,
    });
    return { conversationId, branchId, tenant, title: title.toWellFormed(), workspace, createdAt };
  }
}

interface SoulMetadata {
  readonly channel: string;
  readonly workspace: string;
  readonly externalId: string;
}

const ID_CHARS = 36;
const MIN_PREFIX = 8;

const lastUsedBranchOf = namedQuery((db, { conversationId }: { readonly conversationId: string }) =>
  lastUsedBranches(db).where("c.id", "=", conversationId)
);

const branchById = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  allBranches(db).where("b.id", "=", branchId)
);

export async function findBranch(db: Database, conversationId: string): Promise<Branch | null> {
  const from = conversationId.toLowerCase();
  if (from.length < MIN_PREFIX) return null;
  if (from.length === ID_CHARS) {
    const [rows, branches] = await together([
      lastUsedBranchOf(db, { conversationId: from }),
      branchById(db, { branchId: from }),
    ]);
    const seen = [...rows, ...branches].filter(({ tenant }) => db.tenant === null || tenant === db.tenant);
    return (await readBranches(db, seen))[0] ?? null;
  }
  const souls = await idsWith(db, { table: "conversationSoul", prefix: from });
  if (souls.length === 1) return (await lastUsedBranchesOf(db, souls))[0] ?? null;
  if (souls.length > 1) return null;
  // Users must not reach the branch of a sub-query by its id.
  const where = sql<boolean>`${db.dialect.jsonText("t.metadata", "child")} IS NULL`;
  const ids = await idsWith(db, { table: "conversationState", prefix: from, where });
  if (ids.length !== 1) return null;
  const [branch] = await readBranches(db, await allBranches(db).where("b.id", "in", ids).execute());
  if (!branch) throw new Damage(`branch ${ids[0]} or its conversation is missing`);
  return branch;
}

export async function branchTree(db: Database, conversationId: string): Promise<readonly BranchNode[]> {
  const rows = await allBranches(db).where("c.id", "=", conversationId)
    .select(["b.parentStateId", "b.queries"]).orderBy("b.version").execute();
  const branches = await readBranches(db, rows);
  return branches.map((branch, at) => {
    const { branchMetadata = null, queries = 0 } = rows[at] ?? {};
    const { fork } = fromJson<{ readonly fork: ForkPoint }>(branchMetadata);
    const point = fork ? { queryId: fork.queryId, position: fork.position } : null;
    return { ...branch, queries, parentBranchId: rows[at]?.parentStateId ?? null, fork: point };
  });
}

async function lastUsedBranchesOf(db: Database, ids: readonly string[]): Promise<readonly Branch[]> {
  const found = await readBranches(db, await lastUsedBranches(db).where("c.id", "in", ids).execute());
  const branches = new Map(found.map((branch) => [branch.conversationId, branch]));
  return ids.map((id) => {
    const branch = branches.get(id);
    if (branch) return branch;
    throw new Damage(`conversation ${id} is missing`);
  });
}

/** A running query is the newest of its branch, so the newest queries are enough. */
async function branchesWithQueries(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Branch & Omit<ConversationSummary, "place">>> {
  // Only a running query can ask, and the metadata of an ended query may be long.
  const approval = sql<string | null>`CASE WHEN r.status = 'running'
    THEN ${db.dialect.jsonText("r.metadata", "approval")} END`;
  const rows = await allBranches(db).where("c.id", "in", ids)
    .leftJoin(
      "querySoul as q",
      (join) => join.onRef("q.conversationStateId", "=", "b.id").on("q.number", "=", sql<number>`b.queries - 1`),
    )
    .leftJoin(
      "queryState as r",
      (join) => join.onRef("r.querySoulId", "=", "q.id").on("r.version", "=", sql<number>`q.runs - 1`),
    )
    .select(["b.queries", "r.status", "r.createdAt as ranAt", approval.as("approval")])
    .orderBy("b.version").execute();
  const byConversation = Map.groupBy(rows, ({ conversationId }) => conversationId);
  const usedAt = ({ ranAt, createdAt }: typeof rows[number]): number => ranAt ?? createdAt;
  const lastUsed = [...byConversation.values()].flatMap((of) => of.toSorted((a, b) => usedAt(a) - usedAt(b)).slice(-1));
  return new Map((await readBranches(db, lastUsed)).map((branch) => {
    const of = byConversation.get(branch.conversationId) ?? [];
    const queries = of.reduce((sum, one) => sum + one.queries, 0);
    const running = of.filter(({ status }) => status === "running");
    const asks = running.some(({ approval }) =>
      approval !== null && fromJson<StoredApproval>(approval).answer === null
    );
    const facts = { queries, running: running.length > 0, asks, activeAt: Math.max(...of.map(usedAt)) };
    return [branch.conversationId, { ...branch, ...facts }];
  }));
}

export function lastUsedIn(conversation: string): string {
  return `(
    SELECT t.id FROM conversation_state t
    LEFT JOIN query_soul q ON q.conversation_state_id = t.id AND q.number = t.queries - 1
    LEFT JOIN query_state r ON r.query_soul_id = q.id AND r.version = q.runs - 1
    WHERE t.conversation_soul_id = ${conversation}
      AND t.id NOT IN (SELECT conversation_state_id FROM child_branch)
    ORDER BY coalesce(r.created_at, t.created_at) DESC, t.version DESC LIMIT 1
  )`;
}

function lastUsedBranches(db: Database) {
  return allBranches(db).where("b.id", "=", sql.raw<string>(lastUsedIn("c.id")));
}

function allBranches(db: Database) {
  return db.selectFrom("conversationSoul as c")
    .innerJoin("conversationState as b", "b.conversationSoulId", "c.id")
    .where((on) => on("b.id", "not in", on.selectFrom("childBranch").select("conversationStateId")))
    .select(["c.id as conversationId", "b.id as branchId", "b.title", "b.createdAt", "c.metadata", "c.tenant"])
    .select("b.metadata as branchMetadata");
}

async function readBranches(
  db: Database,
  rows: readonly {
    readonly conversationId: string;
    readonly branchId: string;
    readonly title: string | null;
    readonly createdAt: number;
    readonly metadata: string | null;
    readonly tenant: string;
  }[],
): Promise<Branch[]> {
  const content = new Content(db);
  await content.load(rows.flatMap((row) => [row.title, row.metadata]));
  return rows.map(({ conversationId, branchId, tenant, title, createdAt, metadata }) => ({
    conversationId,
    branchId,
    tenant,
    title: content.text(title ?? ""),
    workspace: fromJson<SoulMetadata>(content.text(metadata ?? "{}")).workspace ?? "",
    createdAt,
  }));
}

const ASKED = sql<boolean>`EXISTS (
  SELECT 1 FROM conversation_state s WHERE s.conversation_soul_id = c.id AND s.queries > 0)`;

export function latestConversation(db: Database, workspace: string): Promise<Branch | null> {
  return db.read(async (tx) => {
    const found = await byActivity(tx).where(has(tx, "c", { workspace })).where(ASKED).limit(1).execute();
    return (await lastUsedBranchesOf(tx, found.map(({ id }) => id)))[0] ?? null;
  });
}

export function listConversations(
  db: Database,
  { limit, after, channel, workspace }: ConversationFilter,
): Promise<readonly (Branch & ConversationSummary)[]> {
  return db.read(async (tx) => {
    const all = byActivity(tx).limit(Math.max(0, Math.floor(limit)));
    const mine = channel === undefined ? all : all.where(has(tx, "c", { channel }));
    const rows = workspace === undefined ? mine : mine.where(has(tx, "c", { workspace }));
    const found = await (after === undefined ? rows : rows.where("c.activity", "<", after)).execute();
    const listed = await branchesWithQueries(tx, found.map(({ id }) => id));
    return found.map(({ id, activity }) => {
      const one = listed.get(id);
      if (one) return { ...one, place: activity };
      throw new Damage(`conversation ${id} is missing`);
    });
  });
}

function byActivity(db: Database) {
  return db.selectFrom("conversationSoul as c").select(["c.id", "c.activity"]).where(isSeen(db, "c.tenant"))
    .orderBy("c.activity", "desc");
}

const TITLE_CHARS = 100;

export function setWorkspace(
  db: Database,
  { conversationId, workspace }: Pick<Branch, "conversationId" | "workspace">,
): Promise<void> {
  return db.write(async (tx) => {
    const [row] = await soulOf(tx, { conversationId });
    if (!row) return;
    const content = new Content(tx);
    await content.load([row.metadata]);
    const metadata = toJson({ ...fromJson<SoulMetadata>(content.text(row.metadata ?? "{}")), workspace });
    await updateRow(tx, "conversationSoul", {
      id: conversationId,
      changes: { metadata: await content.putText(metadata) },
    });
  });
}

const soulOf = namedQuery((db, { conversationId }: { readonly conversationId: string }) =>
  db.selectFrom("conversationSoul as c").select("c.metadata").where("c.id", "=", conversationId).forNoKeyUpdate("c")
);

interface TitleMetadata {
  readonly titledBy?: "nobody" | "user" | "model";
}

export function setTitle(db: Database, { branchId, title }: { branchId: string; title: string }): Promise<void> {
  return db.write(async (tx) => {
    const branches = () => tx.selectFrom("conversationState").select(["id", "title", "metadata", "conversationSoulId"]);
    const own = await branches().where("id", "=", branchId).forNoKeyUpdate().executeTakeFirst();
    if (!own) throw new UsageError(`Cannot rename branch ${branchId}: no branch has this id`);
    const { title: before, conversationSoulId } = own;
    const same = await branches().where("conversationSoulId", "=", conversationSoulId).where("title", "=", before)
      .where("id", "<>", branchId).execute();
    const cell = await new Content(tx).putText(title);
    for (const { id, metadata } of [own, ...same]) {
      const facts = fromJson<TitleMetadata>(metadata);
      const named = id === branchId ? { metadata: toJson({ ...facts, titledBy: "user" }) } : {};
      if (id !== branchId && facts.titledBy === "user") continue;
      await updateRow(tx, "conversationState", { id, changes: { title: cell, ...named } });
    }
  });
}

export async function titleFromRequest(
  content: Content,
  { metadata, text }: { readonly metadata: string | null; readonly text: string },
): Promise<{ readonly title?: string; readonly metadata?: string }> {
  const { titledBy, ...rest } = fromJson<TitleMetadata>(metadata);
  if (titledBy !== "nobody") return {};
  return { title: await content.putText(oneLine(titleOfRequest(text), TITLE_CHARS)), metadata: toJson(rest) };
}

function has(
  db: Database,
  ...[alias, wanted]: readonly [string, Readonly<Record<string, string>>]
): RawBuilder<boolean> {
  const equal = Object.entries(wanted).map(([key, value]) =>
    sql`${db.dialect.jsonText(`${alias}.metadata`, key)} = ${value}`
  );
  return sql<boolean>`(${sql.join(equal, sql` AND `)})`;
}

async function externalIn(db: Database, { channel, externalId }: ExternalChat): Promise<string | null> {
  const chat = sql`${db.dialect.externalId("s")} = ${externalId} AND ${has(db, "s", { channel })}`;
  const { rows: [found] } = await sql<{ id: string }>`SELECT s.id FROM conversation_soul s
    WHERE ${chat} AND ${isSeen(db, "s.tenant")}
    ORDER BY s.rowid LIMIT 1`.execute(db);
  return found?.id ?? null;
}

export function removeConversation(db: Database, conversationId: string): Promise<void> {
  return db.write(async (tx) => {
    // The lock prevents a query from beginning in the conversation before the deletion ends.
    await tx.selectFrom("conversationState").select("id").where("conversationSoulId", "=", conversationId)
      .forNoKeyUpdate().execute();
    if (await runningQuery(tx, conversationId) !== null) {
      throw new BusyError(
        `Cannot delete conversation ${conversationId}: a request is running in it; cancel the request first`,
      );
    }
    await noteErasable(tx, conversationId);
    const { numDeletedRows } = await tx.dialect.erasure.removing(
      tx,
      conversationId,
      () => tx.deleteFrom("conversationSoul").where("id", "=", conversationId).executeTakeFirstOrThrow(),
    );
    if (numDeletedRows === 0n) {
      throw new UsageError(`Cannot delete conversation ${conversationId}: no conversation has this id`);
    }
  });
}

export async function queryByPrefix(db: Database, prefix: string): Promise<string | null> {
  const from = prefix.toLowerCase();
  if (from.length < MIN_PREFIX) return null;
  const [id = null, other] = await idsWith(db, { table: "queryState", prefix: from });
  return other === undefined ? id : null;
}

export async function labelUse(db: Database, since: number): Promise<readonly LabelUse[]> {
  const { rows } = await sql<LabelUse>`
    SELECT ${db.dialect.wholeText("s.run_label")} AS label, count(*) AS queries,
      coalesce(sum(CAST(${db.dialect.jsonText("s.metadata", "costUsd")} AS double precision)), 0.0) AS "costUsd"
    FROM query_state s
    WHERE s.created_at >= ${since} AND s.run_label IS NOT NULL GROUP BY 1`
    .execute(db);
  return rows;
}

export function readTurns(db: Database, branchId: string): Promise<readonly QueryIterations[]> {
  return db.read(async (tx) => {
    const turns: QueryIterations[] = [];
    for (const segment of (await readLineage(tx, branchId)).toReversed()) {
      turns.push(...await turnsOf(tx, segment));
    }
    return turns;
  });
}

export async function runningQuery(db: Database, conversationId: string): Promise<string | null> {
  const found = await db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .innerJoin("conversationState as b", "b.id", "q.conversationStateId")
    .leftJoin("childBranch as c", "c.conversationStateId", "b.id").select("s.id")
    .where("s.status", "=", "running").where("b.conversationSoulId", "=", conversationId)
    .where("c.depth", "is", null).limit(1).executeTakeFirst();
  return found?.id ?? null;
}

async function turnsOf(tx: Database, segment: BranchSegment): Promise<readonly QueryIterations[]> {
  return await tx.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .leftJoin(
      tx.selectFrom("iteration as i").innerJoin("queryState as s", "s.id", "i.queryStateId")
        .innerJoin("querySoul as q", "q.id", "s.querySoulId")
        .where("q.conversationStateId", "=", segment.branchId).where((on) => isShownIteration(on, segment))
        .select((i) => ["i.queryStateId", i.fn.countAll<number>().as("shown")])
        .groupBy("i.queryStateId")
        .as("n"),
      "n.queryStateId",
      "s.id",
    )
    .select((on) => ["s.id as queryId", on.fn.coalesce("n.shown", on.lit(0)).as("iterations")])
    .where("q.conversationStateId", "=", segment.branchId).where((on) => isShownRun(on, segment))
    .orderBy("q.number").execute();
}

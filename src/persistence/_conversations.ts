import { sql } from "kysely";
import type { Listed, ListOptions } from "../domain/conversation_care.ts";
import { newId } from "../domain/id.ts";
import type { Chat, NewConversation } from "../domain/new_conversation.ts";
import type { NewFork } from "../domain/new_fork.ts";
import { NEXT_ACTIVITY } from "./_activity.ts";
import { compiledRows } from "./_compiled_rows.ts";
import { Content } from "./_content.ts";
import type { Database } from "./_database.ts";
import { createFork } from "./_forks.ts";
import { fromJson, toJson } from "./_json.ts";
import type { ForkPoint } from "./_lineage.ts";
import type { Branch, BranchNode } from "./store.ts";

const ID_CHARS = 36;
const MIN_PREFIX = 8;
const OWN_BRANCH = sql`s.id NOT IN (SELECT conversation_state_id FROM child_branch)`;
/** Whether a query of a user was asked in conversation `c`. */
const ASKED = sql<boolean>`EXISTS (SELECT 1 FROM conversation_state s INNER JOIN query_soul q
  ON q.conversation_state_id = s.id WHERE s.conversation_soul_id = c.id AND ${OWN_BRANCH})`;
/** When its newest query began, or it was made: from the end of an index for each of its branches. */
const ACTIVE_AT = sql<number>`coalesce((SELECT q.created_at FROM query_soul q WHERE q.rowid = (
  SELECT max((SELECT max(n.rowid) FROM query_soul n WHERE n.conversation_state_id = s.id)) FROM conversation_state s
  WHERE s.conversation_soul_id = c.id AND ${OWN_BRANCH})), c.created_at)`;
/** Whether a query runs in conversation `c`. */
const RUNS = sql<number>`EXISTS (SELECT 1 FROM query_state r INNER JOIN query_soul q ON q.id = r.query_soul_id
  INNER JOIN conversation_state s ON s.id = q.conversation_state_id
  WHERE r.status = 'running' AND s.conversation_soul_id = c.id)`;

/** `conversation_soul.metadata`. */
interface SoulMetadata {
  readonly channel: string;
  readonly workspace: string;
  readonly externalId: string;
}

/** The rows of `conversation_soul` and `conversation_state`. */
export class Conversations {
  readonly #db: Database;
  readonly #now: () => number;

  constructor(db: Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  create(facts: NewConversation): Promise<Branch> {
    return this.#db.write((tx) => this.#insert(tx, facts));
  }

  async ensure(facts: NewConversation & Chat): Promise<Branch> {
    const made = await this.#db.write(async (tx) =>
      await externalIn(tx, facts) === null ? await this.#insert(tx, facts) : null
    );
    return made ?? await this.findExternal(facts) ?? await this.ensure(facts); // it was deleted in between
  }

  async findExternal(chat: Chat): Promise<Branch | null> {
    const id = await externalIn(this.#db, chat);
    return id === null ? null : await this.find(id);
  }

  async fork(fork: NewFork): Promise<Branch> {
    const id = await createFork(this.#db, { fork, now: this.#now() });
    const branch = await this.find(id);
    if (!branch) throw new Error(`Cannot find branch ${id}, which was just made`);
    return branch;
  }

  async #insert(
    tx: Database,
    { title, channel, workspace, externalId, untitled = false }: NewConversation,
  ): Promise<Branch> {
    const content = new Content(tx);
    const createdAt = this.#now();
    const [conversationId, branchId] = [newId(), newId()];
    const metadata = toJson({ channel, workspace, ...(externalId === undefined ? {} : { externalId }) });
    await tx.insertInto("conversationSoul")
      .values({ id: conversationId, metadata: await content.putText(metadata), createdAt, activity: NEXT_ACTIVITY })
      .execute();
    await tx.insertInto("conversationState").values({
      id: branchId,
      conversationSoulId: conversationId,
      parentStateId: null,
      title: await content.putText(title),
      version: 0,
      metadata: toJson(untitled ? { titledBy: "nobody" } : {}),
      createdAt,
    }).execute();
    return { conversationId, branchId, title: title.toWellFormed(), workspace, createdAt };
  }

  async find(conversationId: string): Promise<Branch | null> {
    const from = conversationId.toLowerCase();
    if (from.length < MIN_PREFIX) return null;
    if (from.length === ID_CHARS) {
      const rows = await compiledRows(this.#db, {
        name: "conversation of an id",
        build: () => this.#newestBranches().where("c.id", "=", from),
        parameters: [from],
      });
      if (rows.length > 0) return (await this.#read(rows))[0] ?? null;
    }
    // Ids are hexadecimal digits and dashes, all of which sort before "~".
    const rows = await this.#newestBranches().where("c.id", ">=", from).where("c.id", "<", `${from}~`)
      .orderBy("c.id").limit(2).execute();
    const found = rows.length > 0 ? rows : await this.#allBranches().where("b.id", ">=", from)
      .where("b.id", "<", `${from}~`).orderBy("b.id").limit(2).execute();
    return found.length === 1 ? (await this.#read(found))[0] ?? null : null;
  }

  async branches(conversationId: string): Promise<readonly BranchNode[]> {
    const rows = await this.#allBranches().where("c.id", "=", conversationId)
      .leftJoin("querySoul as q", "q.conversationStateId", "b.id")
      .select((q) => ["b.parentStateId", "b.metadata as branchMetadata", q.fn.count<number>("q.id").as("queries")])
      .groupBy("b.id").orderBy("b.version").execute();
    const branches = await this.#read(rows);
    return branches.map((branch, at) => {
      const { branchMetadata = null, queries = 0 } = rows[at] ?? {};
      const { fork } = fromJson<{ readonly fork: ForkPoint }>(branchMetadata);
      const point = fork ? { queryId: fork.queryId, position: fork.position } : null;
      return { ...branch, queries, parentBranchId: rows[at]?.parentStateId ?? null, fork: point };
    });
  }

  async latest(workspace: string): Promise<Branch | null> {
    const [found] = await this.#byActivity().where(ASKED)
      .where(has("workspace", workspace)).limit(1).execute();
    return found ? (await this.#read([found]))[0] ?? null : null;
  }

  async list({ limit, after, channel }: ListOptions): Promise<readonly (Branch & Listed)[]> {
    const all = this.#byActivity().select([RUNS.as("running"), ACTIVE_AT.as("activeAt")]).limit(
      Math.max(0, Math.floor(limit)),
    );
    const rows = channel === undefined ? all : all.where(has("channel", channel));
    const found = await (after === undefined ? rows : rows.where("c.activity", "<", after)).execute();
    const counts = await this.#countQueries(found.map(({ conversationId }) => conversationId));
    const branches = await this.#read(found);
    return branches.map((branch, n) => {
      const { activity = 0, activeAt = 0, running = 0 } = found[n] ?? {};
      const queries = counts.get(branch.conversationId) ?? 0;
      return { ...branch, queries, activeAt, running: running === 1, place: activity };
    });
  }

  async #countQueries(conversationIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#db.selectFrom("conversationState as s")
      .innerJoin("querySoul as q", "q.conversationStateId", "s.id")
      .where("s.conversationSoulId", "in", conversationIds)
      .where((on) => on("s.id", "not in", on.selectFrom("childBranch").select("conversationStateId")))
      .select((q) => ["s.conversationSoulId as id", q.fn.countAll<number>().as("queries")])
      .groupBy("s.conversationSoulId").execute();
    return new Map(rows.map(({ id, queries }) => [id, queries]));
  }

  /** Each conversation with its newest branch, those of child queries left out. */
  #newestBranches() {
    return this.#db.selectFrom("conversationSoul as c")
      .innerJoin("conversationState as b", "b.conversationSoulId", "c.id")
      .where((on) =>
        on(
          "b.version",
          "=",
          on.selectFrom("conversationState as n").select((n) => n.fn.max("n.version").as("newest"))
            .whereRef("n.conversationSoulId", "=", "c.id")
            .where("n.id", "not in", on.selectFrom("childBranch").select("conversationStateId")),
        )
      )
      .select(["c.id as conversationId", "b.id as branchId", "b.title", "b.createdAt", "c.metadata"]);
  }

  /** Every branch but those of child queries. */
  #allBranches() {
    return this.#db.selectFrom("conversationSoul as c")
      .innerJoin("conversationState as b", "b.conversationSoulId", "c.id")
      .where((on) => on("b.id", "not in", on.selectFrom("childBranch").select("conversationStateId")))
      .select(["c.id as conversationId", "b.id as branchId", "b.title", "b.createdAt", "c.metadata"]);
  }

  /** The same, the one that was used last first. What one conversation costs here must not grow with its queries, nor a
   * page with the conversations behind it. */
  #byActivity() {
    return this.#newestBranches().select("c.activity").orderBy("c.activity", "desc");
  }

  async #read(
    rows: readonly {
      readonly conversationId: string;
      readonly branchId: string;
      readonly title: string | null;
      readonly createdAt: number;
      readonly metadata: string | null;
    }[],
  ): Promise<Branch[]> {
    const content = new Content(this.#db);
    await content.load(rows.flatMap((row) => [row.title, row.metadata]));
    return rows.map(({ conversationId, branchId, title, createdAt, metadata }) => ({
      conversationId,
      branchId,
      title: content.text(title ?? ""),
      workspace: fromJson<SoulMetadata>(content.text(metadata ?? "{}")).workspace ?? "",
      createdAt,
    }));
  }
}

/** Whether the metadata of conversation `c` have this. */
function has(key: "channel" | "workspace", value: string) {
  return sql<boolean>`(SELECT json_extract(f.metadata, ${`$.${key}`}) FROM conversation_soul_full f
    WHERE f.id = c.id) = ${value}`;
}

/** The conversation of a chat. */
async function externalIn(db: Database, { channel, externalId }: Chat): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM conversation_soul_full WHERE json_extract(metadata, '$.channel') = ${channel}
    AND json_extract(metadata, '$.externalId') = ${externalId} ORDER BY created_at, id LIMIT 1`.execute(db);
  return rows[0]?.id ?? null;
}

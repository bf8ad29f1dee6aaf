import { sql } from "kysely";
import type { Listed, ListOptions } from "../domain/conversation_care.ts";
import { newId } from "../domain/id.ts";
import type { Chat, NewConversation } from "../domain/new_conversation.ts";
import type { NewFork } from "../domain/new_fork.ts";
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
/** When conversation `c` was asked last, null where it never was: from the end of an index for each of its branches. */
const ASKED = sql<number | null>`(SELECT max((SELECT max(q.created_at) FROM query_soul AS q
  WHERE q.conversation_state_id = s.id)) FROM conversation_state AS s
  WHERE s.conversation_soul_id = c.id AND ${OWN_BRANCH})`;
/** The newest query of conversation `a`. */
const NEWEST = sql<string | null>`(SELECT max(q.id) FROM conversation_state AS s
  INNER JOIN query_soul AS q ON q.conversation_state_id = s.id AND q.created_at = a.asked
  WHERE s.conversation_soul_id = a.conversation_id AND ${OWN_BRANCH})`;
/** Of the newest query, or when the conversation was made. */
const ACTIVE = sql<number>`coalesce(a.asked, a.made)`;

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
      .values({ id: conversationId, metadata: await content.putText(metadata), createdAt }).execute();
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
    const branches = await this.#read(await this.#byActivity().where("a.asked", "is not", null).execute());
    return branches.find((branch) => branch.workspace === workspace) ?? null;
  }

  async list({ limit, after, channel }: ListOptions): Promise<readonly (Branch & Listed)[]> {
    const all = this.#byActivity().limit(Math.max(0, Math.floor(limit)));
    const rows = channel === undefined ? all : all.where("a.conversationId", "in", inChannel(channel));
    const { at, query, conversationId } = after ?? {};
    const found = await (after === undefined ? rows : rows.where(
      sql<boolean>`(${ACTIVE}, coalesce(${NEWEST}, ''), a.conversation_id) < (${at}, ${query}, ${conversationId})`,
    ))
      .execute();
    const counts = await this.#countQueries(found.map(({ conversationId }) => conversationId));
    const branches = await this.#read(found);
    return branches.map((branch, n) => {
      const { conversationId } = branch;
      const place = { at: found[n]?.at ?? 0, query: found[n]?.query ?? "", conversationId };
      return { ...branch, queries: counts.get(conversationId) ?? 0, place };
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

  /** The same, the one with the newest query first. What one conversation costs here must not grow with its queries. */
  #byActivity() {
    return this.#db.selectFrom(this.#newestBranches().select(["c.createdAt as made", ASKED.as("asked")]).as("a"))
      .selectAll("a")
      .select([ACTIVE.as("at"), NEWEST.as("query")])
      .orderBy("at", "desc")
      .orderBy("query", "desc")
      .orderBy("a.conversationId", "desc");
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

function inChannel(channel: string) {
  return sql<string>`(SELECT id FROM conversation_soul_full WHERE json_extract(metadata, '$.channel') = ${channel})`;
}

/** The conversation of a chat. */
async function externalIn(db: Database, { channel, externalId }: Chat): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM conversation_soul_full WHERE json_extract(metadata, '$.channel') = ${channel}
    AND json_extract(metadata, '$.externalId') = ${externalId} ORDER BY created_at, id LIMIT 1`.execute(db);
  return rows[0]?.id ?? null;
}

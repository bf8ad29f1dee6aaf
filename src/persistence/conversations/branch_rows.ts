import { sql } from "kysely";
import { together } from "../../domain/kit/concurrency.ts";
import type { ConversationSummary } from "../../domain/records/conversations.ts";
import type { ForkPoint } from "../branches/lineage.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { idsWith } from "../database/ids_with.ts";
import { fromJson } from "../database/json.ts";
import { namedQuery } from "../database/named_query.ts";
import { Damage } from "../schema/damage.ts";
import type { Branch, BranchNode } from "../store/conversation_store.ts";

/** `conversation_soul.metadata`. */
interface SoulMetadata {
  readonly channel: string;
  readonly workspace: string;
  readonly externalId: string;
}

const ID_CHARS = 36;
const MIN_PREFIX = 8;

const newestBranchOf = namedQuery((db, { conversationId }: { readonly conversationId: string }) =>
  newestBranches(db).where("c.id", "=", conversationId)
);

const branchById = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  allBranches(db).where("b.id", "=", branchId)
);

/** `Store.findConversation`. */
export async function findBranch(db: Database, conversationId: string): Promise<Branch | null> {
  const from = conversationId.toLowerCase();
  if (from.length < MIN_PREFIX) return null;
  if (from.length === ID_CHARS) {
    const [rows, branches] = await together([
      newestBranchOf(db, { conversationId: from }),
      branchById(db, { branchId: from }),
    ]);
    const seen = [...rows, ...branches].filter(({ tenant }) => db.tenant === null || tenant === db.tenant);
    return (await readBranches(db, seen))[0] ?? null;
  }
  const souls = await idsWith(db, { table: "conversationSoul", prefix: from });
  if (souls.length === 1) return (await newestBranchesOf(db, souls))[0] ?? null;
  if (souls.length > 1) return null;
  // Branches of child queries cannot be found by their ids.
  const where = sql<boolean>`${db.jsonText("t.metadata", "child")} IS NULL`;
  const ids = await idsWith(db, { table: "conversationState", prefix: from, where });
  if (ids.length !== 1) return null;
  const [branch] = await readBranches(db, await allBranches(db).where("b.id", "in", ids).execute());
  if (!branch) throw new Damage(`branch ${ids[0]} or its conversation is missing`);
  return branch;
}

/** `Store.branches`. */
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

/** The newest branches of these conversations, in the order of `ids`. */
export async function newestBranchesOf(db: Database, ids: readonly string[]): Promise<readonly Branch[]> {
  const found = await readBranches(db, await newestBranches(db).where("c.id", "in", ids).execute());
  const branches = new Map(found.map((branch) => [branch.conversationId, branch]));
  return ids.map((id) => {
    const branch = branches.get(id);
    if (branch) return branch;
    throw new Damage(`conversation ${id} is missing`);
  });
}

/** These conversations with their newest branch and the status of each branch's newest query, which is the running one
 * if any. */
export async function branchesWithQueries(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Branch & Omit<ConversationSummary, "place">>> {
  const rows = await allBranches(db).where("c.id", "in", ids)
    .leftJoin(
      "querySoul as q",
      (join) => join.onRef("q.conversationStateId", "=", "b.id").on("q.number", "=", sql<number>`b.queries - 1`),
    )
    .leftJoin(
      "queryState as r",
      (join) => join.onRef("r.querySoulId", "=", "q.id").on("r.version", "=", sql<number>`q.runs - 1`),
    )
    .select(["b.queries", "q.createdAt as askedAt", "q.rowid as place", "r.status"])
    .orderBy("b.version").execute();
  const byConversation = Map.groupBy(rows, ({ conversationId }) => conversationId);
  const newest = [...byConversation.values()].flatMap((of) => of.slice(-1));
  return new Map((await readBranches(db, newest)).map((branch) => {
    const of = byConversation.get(branch.conversationId) ?? [];
    const asked = of.toSorted((a, b) => (b.place ?? 0) - (a.place ?? 0))[0]?.askedAt;
    const queries = of.reduce((sum, one) => sum + one.queries, 0);
    const running = of.some(({ status }) => status === "running");
    return [branch.conversationId, { ...branch, queries, running, activeAt: asked ?? branch.createdAt }];
  }));
}

/** Each conversation with its newest branch, without those of child queries. */
function newestBranches(db: Database) {
  return allBranches(db).where((on) =>
    on(
      "b.version",
      "=",
      on.selectFrom("conversationState as n").select((n) => n.fn.max("n.version").as("newest"))
        .whereRef("n.conversationSoulId", "=", "c.id")
        .where("n.id", "not in", on.selectFrom("childBranch").select("conversationStateId")),
    )
  );
}

/** Every branch except those of child queries. */
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

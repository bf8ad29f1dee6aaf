import { sql } from "kysely";
import { BusyError, UsageError } from "../domain/errors.ts";
import { newId } from "../domain/kit/ids.ts";
import { NO_USAGE } from "../domain/query/model_call.ts";
import type { RequestKey } from "../domain/query/stored_query.ts";
import { Content } from "./content.ts";
import { titleFromRequest } from "./conversations.ts";
import { Damage, type Database, insertRow, namedQuery, searchText, toJson, updateRow } from "./database.ts";
import { endLeftOf } from "./lost_runs.ts";
import { extrasMetadata, firstWords } from "./queries.ts";
import { type IsAlive, moveToFront, takeLease } from "./runs.ts";
import type { NewQuery } from "./store.ts";

const TITLE_CHARS = 100;

/** `QueryStore.beginQuery`, in the transaction `tx`. Returns the id of the run. */
export async function beginQuery(
  tx: Database,
  { query, now, isAlive }: { readonly query: NewQuery; readonly now: number; readonly isAlive: IsAlive },
): Promise<string> {
  const { branchId, owner } = query;
  const found = await readBranch(tx, branchId);
  const wasHeld = await takeLease(tx, {
    ...{ branchId, owner, isAlive, now },
    holder: found.holder,
    endLeft: (left) => endLeftOf(tx, { ...left, branchId, now }),
  });
  // What the process before left running has an end now.
  const branch = wasHeld ? await readBranch(tx, branchId) : found;
  await moveToFront(tx, branch);
  const content = new Content(tx);
  const { soulId, version } = query.retryOf === undefined
    ? await firstRun(content, { query, branch, now })
    : await anotherRun(tx, { query, branch });
  const id = query.queryId ?? newId();
  await insertRow(tx, "queryState", {
    id,
    querySoulId: soulId,
    forkedFromQueryStateId: query.retryOf ?? null,
    version,
    llmProvider: query.provider,
    llmRootModel: query.model,
    promptEnrichment: await content.putText(query.promptEnrichment),
    subtitle: null,
    runLabel: query.runLabel === null ? null : await content.putText(query.runLabel),
    status: "running",
    metadata: toJson({ iterations: 0, usage: NO_USAGE, costUsd: null, byModel: {} }),
    createdAt: now,
  });
  const { requestKey } = query;
  if (requestKey) await keepRequestKey(tx, { requestKey, queryId: id, now });
  return id;
}

/** A branch, its conversation, who holds it, and its newest run. */
const branchToBegin = namedQuery((db, { branchId }: { readonly branchId: string }) =>
  db.selectFrom("conversationState as b")
    .leftJoin("conversationSoul as c", "c.id", "b.conversationSoulId")
    .leftJoin("lease as l", "l.conversationStateId", "b.id")
    .leftJoin(
      "querySoul as q",
      (join) => join.onRef("q.conversationStateId", "=", "b.id").on("q.number", "=", sql<number>`b.queries - 1`),
    )
    .leftJoin(
      "queryState as s",
      (join) => join.onRef("s.querySoulId", "=", "q.id").on("s.version", "=", sql<number>`q.runs - 1`),
    )
    .select(["b.metadata", "b.queries", "c.id as conversationId", "c.activity"])
    .select(["l.host", "l.space", "l.pid", "l.started", "l.session"])
    .select(["q.id as soulId", "q.runs"])
    .select(["s.id as runId", "s.version", "s.status"])
    .where("b.id", "=", branchId)
    .forNoKeyUpdate("b")
);

type BranchToBegin = Awaited<ReturnType<typeof readBranch>>;

/** Locks the branch. What another transaction stored while this one waited for it is not seen; then the lease cannot be
 * taken, and the transaction runs again. */
async function readBranch(tx: Database, branchId: string) {
  const [row] = await branchToBegin(tx, { branchId });
  if (!row) throw new UsageError(`Cannot continue branch ${branchId}: its conversation was deleted`);
  const { conversationId, activity, runId, host, space, pid, started, session, ...rest } = row;
  if (conversationId === null || activity === null) {
    throw new Damage(`the conversation of branch ${branchId} is missing`);
  }
  const isHeld = host !== null && space !== null && pid !== null && started !== null && session !== null;
  const holder = isHeld ? { host, space, pid, started, session } : null;
  return { ...rest, branchId, conversationId, activity, runId, holder };
}

/** The place of a run. */
interface RunPlace {
  readonly soulId: string;
  readonly version: number;
}

/** Stores a request as the next one of its branch, which counts it. */
async function firstRun(
  content: Content,
  { query, branch, now }: { readonly query: NewQuery; readonly branch: BranchToBegin; readonly now: number },
): Promise<RunPlace> {
  const { branchId, queries } = branch;
  const { text } = query;
  const title = await titleFromRequest(content, { metadata: branch.metadata, text });
  await updateRow(content.db, "conversationState", { id: branchId, changes: { ...title, queries: queries + 1 } });
  const column = searchText(text);
  const exact = column === text ? {} : { query: text };
  const soulId = newId();
  await insertRow(content.db, "querySoul", {
    id: soulId,
    conversationStateId: branchId,
    title: await content.putText(firstWords(text, TITLE_CHARS)),
    query: column,
    metadata: await content.putText(toJson({ ...exact, ...await extrasMetadata(content, query) })),
    createdAt: now,
    number: queries,
    runs: 1,
  });
  return { soulId, version: 0 };
}

/** Counts another run of the last query: from now on its branch shows the variables as they were before it. */
async function anotherRun(
  tx: Database,
  { query: { retryOf = "" }, branch }: { readonly query: NewQuery; readonly branch: BranchToBegin },
): Promise<RunPlace> {
  const { runId, soulId, runs, version, status } = branch;
  if (runId !== retryOf || soulId === null || runs === null || version === null) {
    throw new UsageError(`Cannot retry query ${retryOf}: it is not the last one of its branch; fork before it`);
  }
  if (status === "running") throw new UsageError(`Cannot retry query ${retryOf}: it is still running`);
  await updateRow(tx, "querySoul", { id: soulId, changes: { runs: runs + 1 } });
  return { soulId, version: version + 1 };
}

const KEPT_MS = 24 * 3_600_000;

/** Stores the key together with the query that it begins, and deletes keys older than a day. Throws `BusyError` if
 * another process received the key in the meantime or has continued its request. */
async function keepRequestKey(
  tx: Database,
  { requestKey, queryId, now }: { readonly requestKey: RequestKey; readonly queryId: string; readonly now: number },
): Promise<void> {
  const { branchId, key, fingerprint, replaces } = requestKey;
  await tx.deleteFrom("requestKey").where("createdAt", "<=", now - KEPT_MS).execute();
  const known = await findRequestKey(tx, { branchId, key, now });
  const isOther = known !== null && known.queryId !== queryId;
  if (isOther && known.queryId !== replaces) {
    throw new BusyError("Conversation is busy: another process runs the request of this key");
  }
  if (isOther) {
    await tx.deleteFrom("requestKey").where("key", "=", key).where("queryStateId", "=", known.queryId).execute();
  }
  const row = { conversationStateId: branchId, key, fingerprint, queryStateId: queryId, createdAt: now };
  await insertRow(tx, "requestKey", row);
}

/** The key in any branch of the conversation; null if it does not occur within the last day. */
export async function findRequestKey(
  db: Database,
  { branchId, key, now }: { readonly branchId: string; readonly key: string; readonly now: number },
): Promise<{ readonly queryId: string; readonly fingerprint: string } | null> {
  const conversation = await conversationOf(db, branchId);
  const rows = await db.selectFrom("requestKey").select(["conversationStateId", "queryStateId", "fingerprint"])
    .where("key", "=", key).where("createdAt", ">", now - KEPT_MS).execute();
  const accepted = await db.dialect.keyedJobs(db, key);
  for (const { conversationStateId, queryStateId: queryId, fingerprint } of [...accepted, ...rows]) {
    if (await conversationOf(db, conversationStateId) === conversation) return { queryId, fingerprint };
  }
  return null;
}

async function conversationOf(db: Database, branchId: string): Promise<string | null> {
  const row = await db.selectFrom("conversationState as b").select("b.conversationSoulId").where("b.id", "=", branchId)
    .executeTakeFirst();
  return row?.conversationSoulId ?? null;
}

import { sql } from "kysely";
import { Buffer } from "node:buffer";
import type { Image } from "../domain/images.ts";
import { together } from "../domain/kit/concurrency.ts";
import {
  addSpend,
  addUsage,
  type ModelTrace,
  NO_USAGE,
  NOTHING_SPENT,
  type Spend,
} from "../domain/query/model_call.ts";
import type { QueryEnd, Usage } from "../domain/query/query_schemas.ts";
import type { StoredQuery } from "../domain/query/stored_query.ts";
import type { NewestQueries } from "../domain/records/history.ts";
import { type BranchSegment, type ForkPoint, isShownRun, queriesIn, readLineage } from "./branches.ts";
import { Content } from "./content.ts";
import { type Database, fromJson, namedQuery, toJson, updateRow } from "./database.ts";
import { endIteration } from "./iterations.ts";
import { checkFence, dropLease, lastIteration, newestThinkings, type QueryMetadata } from "./runs.ts";
import type { Asked, EndOfIteration, NewQuery, PreviousTurn, QueryExtras } from "./store.ts";
import type { DatabaseSchema } from "./tables.ts";

/** `QueryStore.query`. */
export async function queryById(db: Database, queryId: string): Promise<StoredQuery | null> {
  const rows = await runById(db, { queryId });
  const [found] = await shownQueries(new Content(db), rows.map((row) => ({ row, until: null })));
  return found ?? null;
}

/** `QueryStore.queries`: queries of ancestors up to the fork come before the branch's own. */
export async function queriesOfBranch(
  db: Database,
  { branchId, newest = Infinity }: NewestQueries & { readonly branchId: string },
): Promise<readonly StoredQuery[]> {
  return await db.read(async (tx) => {
    const rows = await shownRows(tx, { lineage: await readLineage(tx, branchId), newest });
    return await shownQueries(new Content(tx), rows);
  });
}

interface QueryRow {
  readonly queryId: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly query: string | null;
  readonly status: DatabaseSchema["queryState"]["status"];
  readonly metadata: string | null;
  readonly soulMetadata: string | null;
  readonly createdAt: number;
}

/** Selects runs of queries. */
function queryRows(db: Database) {
  return db.selectFrom("queryState as s")
    .innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .innerJoin("conversationState as c", "c.id", "q.conversationStateId")
    .select(["s.id as queryId", "c.conversationSoulId as conversationId", "c.id as branchId"])
    .select(["q.query", "s.status", "s.metadata"])
    .select(["q.metadata as soulMetadata", "s.createdAt"]);
}

const runById = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  queryRows(db).where("s.id", "=", queryId)
);

/** The newest run of the query before the one that a run belongs to. */
const runBefore = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  queryRows(db)
    .innerJoin("querySoul as m", (join) =>
      join.onRef("m.conversationStateId", "=", "q.conversationStateId")
        .on("q.number", "=", sql<number>`m.number - 1`))
    .innerJoin("queryState as r", "r.querySoulId", "m.id")
    .where("r.id", "=", queryId).where("s.version", "=", sql<number>`q.runs - 1`)
);

/** A run that a branch shows; `until` is set for the query of a fork, which the branch shows in part. */
interface ShownRow {
  readonly row: QueryRow;
  readonly until: ForkPoint | null;
}

/** The newest queries that a lineage shows, oldest first. */
async function shownRows(
  tx: Database,
  { lineage, newest }: { readonly lineage: readonly BranchSegment[]; readonly newest: number },
): Promise<readonly ShownRow[]> {
  const found: ShownRow[] = [];
  for (const segment of lineage) {
    if (found.length >= newest) break;
    const { branchId, until } = segment;
    const to = await queriesIn(tx, segment);
    const from = Math.max(0, to - (newest - found.length));
    const rows = await queryRows(tx).where("q.conversationStateId", "=", branchId).where("q.number", ">=", from)
      .where((on) => isShownRun(on, segment)).orderBy("q.number").execute();
    found.unshift(...rows.map((row) => ({ row, until: row.queryId === until?.queryId ? until : null })));
  }
  return found;
}

/** The queries of these rows, in their order. */
async function shownQueries(content: Content, shown: readonly ShownRow[]): Promise<readonly StoredQuery[]> {
  await content.load(shown.flatMap(({ row }) => [row.metadata, row.soulMetadata]));
  const queries: StoredQuery[] = [];
  for (const { row, until } of shown) {
    const query = storedQuery(content, row);
    queries.push(until ? await cutAt(query, { content, until }) : query);
  }
  return queries;
}

/** The query of a fork as the fork sees it: without what came later. */
async function cutAt(
  query: StoredQuery,
  { content, until: { position } }: { readonly content: Content; readonly until: ForkPoint },
): Promise<StoredQuery> {
  const iterations = position + 1;
  if (!query.running && iterations >= query.iterations) return query;
  const { queryId, conversationId, branchId, text, createdAt, steered } = query;
  const { nextAt, ms, ...spent } = await spentUntil(content, { queryId, position, begun: createdAt });
  return {
    ...{ queryId, conversationId, branchId, text, createdAt, iterations, ...spent },
    // The end of an iteration is stored while the next one is under way.
    ms: query.running ? ms : Math.min(ms, query.ms),
    steered: steered.filter(({ iteration }) => iteration <= iterations),
    notes: [`Forked after iteration ${iterations}`],
    ...{ running: false, status: "interrupted", reason: "forked" },
    ...{ answer: "", answerType: "text", confidence: "low" },
    ...(nextAt === undefined ? {} : { forkedAt: nextAt }),
  };
}

function storedQuery(content: Content, row: QueryRow): StoredQuery {
  const soul = fromJson<{ query: string }>(content.text(row.soulMetadata ?? "{}"));
  const facts = fromJson<QueryMetadata>(content.text(row.metadata ?? "{}"));
  const known = {
    queryId: row.queryId,
    conversationId: row.conversationId,
    branchId: row.branchId,
    text: soul.query ?? row.query ?? "",
    createdAt: row.createdAt,
    answer: facts.answer ?? "",
    answerType: facts.answerType ?? "text",
    confidence: facts.confidence ?? "low",
    iterations: facts.iterations ?? 0,
    usage: facts.usage ?? NO_USAGE,
    costUsd: facts.costUsd ?? null,
    ms: facts.ms ?? 0,
    notes: facts.notes ?? [],
    steered: facts.steered ?? [],
    ...(facts.noAnswer ? { noAnswer: true as const } : {}),
    ...(facts.temporary ? { temporary: true as const } : {}),
  };
  const { status } = row;
  if (status === "running") return { ...known, running: true, status, reason: null };
  return { ...known, running: false, status, reason: facts.reason ?? "process_lost" };
}

/** `QueryStore.previousTurn`. What was before a query no longer changes, so that no snapshot is needed. */
export async function previousTurn(
  tx: Database,
  { branchId, before }: { readonly branchId: string; readonly before: string },
): Promise<PreviousTurn | null> {
  const [row] = await runBefore(tx, { queryId: before });
  const found = row ? { row, until: null } : await lastShown(tx, { branchId, before });
  if (!found) return null;
  const content = new Content(tx);
  const [query] = await shownQueries(content, [found]);
  if (!query || query.running) return null;
  const { text, answer, status, queryId, iterations, notes } = query;
  const { images = [] } = fromJson<ExtrasMetadata>(content.text(found.row.soulMetadata ?? "{}"));
  const [thinkings, pending] = await together([
    newestThinkings(content, { queryId, until: found.until ? iterations : Infinity }),
    // A query that ends with an answer leaves no running block.
    status === "done" ? [] : pendingBlocks(tx, queryId),
  ]);
  return {
    ...{ queryId, text, answer, status, thinkings },
    ...(notes.length > 0 ? { notes } : {}),
    ...(images.length > 0 ? { images: images.length } : {}),
    ...(pending.length > 0 ? { pending } : {}),
  };
}

const numberOfRun = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId").select("q.number")
    .where("s.id", "=", queryId)
);

/** The last run that the ancestors of a branch show, for its first query; the last ended one of the branch and its
 * ancestors, if it has no such query. */
async function lastShown(
  tx: Database,
  { branchId, before }: { readonly branchId: string; readonly before: string },
): Promise<ShownRow | undefined> {
  const [mark] = await numberOfRun(tx, { queryId: before });
  const [own, ...ancestors] = await readLineage(tx, branchId);
  // Only the newest can be running.
  const mine = mark ? [] : await shownRows(tx, { lineage: [own], newest: 2 });
  return mine.findLast(({ row }) => row.status !== "running") ??
    (await shownRows(tx, { lineage: ancestors, newest: 1 })).at(-1);
}

/** Source texts of the blocks that were running when a query was interrupted: those of its last iteration, whose end
 * was never stored. */
async function pendingBlocks(db: Database, queryId: string): Promise<readonly string[]> {
  const last = await lastIteration(db, queryId);
  if (last?.status !== "interrupted") return [];
  const content = new Content(db);
  await content.load([last.metadata]);
  return fromJson<{ readonly pendingBlocks: readonly string[] }>(content.text(last.metadata ?? "{}")).pendingBlocks ??
    [];
}

type StoredImage =
  | { readonly url: string }
  | { readonly mediaType: string; readonly base64: string }
  /** A reference into the table `content`. */
  | { readonly mediaType: string; readonly content: string };

/** What a request contains besides its text, in `query_soul.metadata`. */
interface ExtrasMetadata {
  readonly images?: readonly StoredImage[];
  readonly answerSchema?: string;
  readonly askedAs?: Asked;
}

/** Stores the images of a request, each once. Returns the part of the query's metadata that describes them. */
export async function extrasMetadata(
  content: Content,
  { images = [], answerSchema = null, askedAs = null }: Pick<NewQuery, "images" | "answerSchema" | "askedAs">,
): Promise<ExtrasMetadata> {
  const stored: StoredImage[] = [];
  for (const image of images) stored.push(await storedImage(content, image));
  return {
    ...(stored.length > 0 ? { images: stored } : {}),
    ...(answerSchema === null ? {} : { answerSchema }),
    ...(askedAs === null ? {} : { askedAs }),
  };
}

/** What a request contains besides its text, exactly as received; empty if the query does not exist. */
export async function readExtras(db: Database, queryId: string): Promise<QueryExtras> {
  const content = new Content(db);
  const { images = [], answerSchema = null, askedAs = null } = await readMetadata(content, queryId);
  const run = await db.selectFrom("queryState as s").select("s.promptEnrichment").where("s.id", "=", queryId)
    .executeTakeFirst();
  await content.load([run?.promptEnrichment, ...images.map((image) => "content" in image ? image.content : null)]);
  const instructions = content.text(run?.promptEnrichment ?? "");
  return { images: images.map((image) => imageOf(content, image)), answerSchema, instructions, askedAs };
}

const metadataOfQuery = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select("q.metadata").where("s.id", "=", queryId)
);

async function readMetadata(content: Content, queryId: string): Promise<ExtrasMetadata> {
  const { db } = content;
  const [row] = await metadataOfQuery(db, { queryId });
  await content.load([row?.metadata]);
  return fromJson<ExtrasMetadata>(content.text(row?.metadata ?? "{}"));
}

async function storedImage(content: Content, image: Image): Promise<StoredImage> {
  if (image.kind === "url") return { url: image.url };
  const { mediaType } = image;
  const cell = await content.putApart(image.bytes);
  return typeof cell === "string"
    ? { mediaType, content: cell }
    : { mediaType, base64: Buffer.from(cell).toString("base64") };
}

function imageOf(content: Content, image: StoredImage): Image {
  if ("url" in image) return { kind: "url", url: image.url };
  const { mediaType } = image;
  const bytes = "content" in image ? content.bytes(image.content) : new Uint8Array(Buffer.from(image.base64, "base64"));
  return { kind: "bytes", mediaType, bytes };
}

const SUBTITLE_CHARS = 60;

/** A run, once for each of its iterations that have not ended. */
const queryToEnd = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .leftJoin("iteration as i", (join) => join.onRef("i.queryStateId", "=", "s.id").on("i.status", "=", "running"))
    .select(["s.status", "q.conversationStateId as branchId", "s.metadata", "i.id as iterationId"])
    .where("s.id", "=", queryId)
    .select(db.dialect.holderOf("s.id").as("holder")).forNoKeyUpdate("s")
);

/** Ends a running query in the transaction `db`, together with an iteration that was left running; a query that is done
 * cannot have one. A query that has ended stays as it is. Throws `TakenOverError` if another process ended it. */
export async function endQuery(
  db: Database,
  { queryId, end, now }: { readonly queryId: string; readonly end: QueryEnd; readonly now: number },
): Promise<void> {
  const rows = await queryToEnd(db, { queryId });
  const [row] = rows;
  if (!row) throw new Error(`Cannot end query ${queryId}: it does not exist`);
  await checkFence(db, { ...row, id: queryId });
  if (row.status !== "running") return;
  const left = rows.flatMap(({ iterationId }) => iterationId === null ? [] : { id: iterationId });
  if (end.status === "done" && left.length > 0) {
    throw new Error(`Cannot end query ${queryId}: its last iteration is not stored`);
  }
  await storeEnd(db, { ...row, queryId, end });
  await interruptIterations(left, { db, now });
}

/** Ends a running query together with its last iteration, in the transaction `db` of its run. Throws like `endQuery`. */
export async function endWithIteration(
  db: Database,
  { end, iterationId, iteration, now }: EndOfIteration & { readonly end: QueryEnd; readonly now: number },
): Promise<void> {
  await storeEnd(db, { ...await endIteration(db, { iterationId, end: iteration, now }), end });
}

async function storeEnd(
  db: Database,
  { queryId, branchId, metadata, end: { status, ...facts } }: {
    readonly queryId: string;
    readonly branchId: string;
    /** As it was read. */
    readonly metadata: string | null;
    readonly end: QueryEnd;
  },
): Promise<void> {
  const content = new Content(db);
  await content.load([metadata]);
  const before = fromJson<QueryMetadata>(metadata === null ? null : content.text(metadata));
  const changes = {
    status,
    subtitle: await content.putText(firstWords(facts.answer, SUBTITLE_CHARS)),
    metadata: await content.putText(toJson({ ...before, ...facts, answer: facts.answer.toWellFormed() })),
  };
  await updateRow(db, "queryState", { id: queryId, changes });
  await dropLease(db, branchId);
}

/** Iterations of a run that have not ended. */
export const runningIterations = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("iteration").select("id").where("queryStateId", "=", queryId).where("status", "=", "running")
);

/** Ends iterations that were left running. */
export async function interruptIterations(
  iterations: readonly { readonly id: string }[],
  { db, now }: { readonly db: Database; readonly now: number },
): Promise<void> {
  for (const { id } of iterations) {
    await updateRow(db, "iteration", { id, changes: { status: "interrupted", finishedAt: now } });
  }
}

/** The start of a text on one line, cut between words if possible, with "…" if something is cut off. */
export function firstWords(text: string, maxChars: number): string {
  // Reads only the part that can be shown, since texts may be very long.
  const line = text.slice(0, maxChars * 4).replace(/\s+/g, " ").trim();
  if (line.length <= maxChars && text.length <= maxChars * 4) return line;
  const cut = line.slice(0, maxChars - 1);
  const space = cut.lastIndexOf(" ");
  return `${space > maxChars / 2 ? cut.slice(0, space) : cut}…`.toWellFormed();
}

/** What an interrupted query has spent: the totals of its last reply, plus the model calls that the blocks of the
 * running iteration made since. Its child queries have ended. */
export async function spentOf(
  tx: Database,
  { queryId, facts }: { readonly queryId: string; readonly facts: Partial<QueryMetadata> },
): Promise<Spend> {
  const before = { usage: facts.usage ?? NO_USAGE, costUsd: facts.costUsd ?? null };
  const cut = await tx.selectFrom("iteration").select("id")
    .where("queryStateId", "=", queryId).where("status", "=", "running").executeTakeFirst();
  return cut ? (await spentBelow(new Content(tx), [cut.id])).reduce(addSpend, before) : before;
}

/** What the iterations of a query up to a position took. */
async function spentUntil(
  content: Content,
  { queryId, position, begun }: { readonly queryId: string; readonly position: number; readonly begun: number },
): Promise<Spend & { readonly ms: number; readonly nextAt: number | undefined }> {
  const rows = await content.db.selectFrom("iteration as i")
    .select(["i.id", "i.position", "i.llmTraces", "i.metadata", "i.createdAt", "i.finishedAt"])
    .where("i.queryStateId", "=", queryId).where("i.position", "<=", position + 1)
    .orderBy("i.position").execute();
  const shown = rows.filter((row) => row.position <= position);
  await content.load(shown.flatMap(({ llmTraces, metadata }) => [llmTraces, metadata]));
  const replies = shown.map(({ llmTraces, metadata }): Spend => {
    const traces = JSON.parse(content.text(llmTraces ?? "[]")) as readonly ModelTrace[];
    const usage = traces.reduce((sum, trace) => trace.usage ? addUsage(sum, trace.usage) : sum, NO_USAGE);
    const { costUsd } = fromJson<{ readonly costUsd: number | null }>(content.text(metadata ?? "{}"));
    return { usage, costUsd: costUsd ?? null };
  });
  const below = await spentBelow(content, shown.map(({ id }) => id));
  const end = shown.at(-1);
  return {
    ...[...replies, ...below].reduce(addSpend, NOTHING_SPENT),
    ms: Math.max(0, (end?.finishedAt ?? end?.createdAt ?? begun) - begun),
    nextAt: rows.find((row) => row.position > position)?.createdAt,
  };
}

/** What the model calls of the blocks of these iterations took, and their child queries. */
async function spentBelow(content: Content, iterationIds: readonly string[]): Promise<readonly Spend[]> {
  if (iterationIds.length === 0) return [];
  const calls = await content.db.selectFrom("subCall").select(["usage", "costUsd"])
    .where("iterationId", "in", iterationIds).execute();
  const rows = await content.db.selectFrom("childBranch as c")
    .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
    .innerJoin("queryState as s", "s.querySoulId", "q.id")
    .select("s.metadata").where("c.iterationId", "in", iterationIds).execute();
  await content.load(rows.map(({ metadata }) => metadata));
  const children = rows.map(({ metadata }) => fromJson<QueryMetadata>(content.text(metadata ?? "{}")));
  return [...calls.map(({ usage, costUsd }) => ({ usage: fromJson<Usage>(usage), costUsd })), ...children]
    .map(({ usage, costUsd }) => ({ usage: { ...NO_USAGE, ...usage }, costUsd: costUsd ?? null }));
}

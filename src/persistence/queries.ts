import { counted } from "../domain/kit/text.ts";
import { sql } from "kysely";
import { Buffer } from "node:buffer";
import { BusyError, UsageError } from "../domain/errors.ts";
import type { Image } from "../domain/images.ts";
import { together } from "../domain/kit/concurrency.ts";
import { newId } from "../domain/kit/ids.ts";
import {
  addSpend,
  addUsage,
  type ModelTrace,
  NO_USAGE,
  NOTHING_SPENT,
  type Spend,
} from "../domain/query/model_call.ts";
import { BlockTally, storedDiffs } from "../domain/query/host_call.ts";
import type { BlockCall, QueryEnd, Usage, Work } from "../domain/query/query_schemas.ts";
import { READING_MODES } from "../domain/query/outcomes.ts";
import { approvalLine } from "../domain/query/approval.ts";
import type { RequestKey, StoredQuery } from "../domain/query/stored_query.ts";
import { ChangedFiles, QueryWork } from "../domain/query/work_summary.ts";
import type { NewestQueries } from "../domain/records/history.ts";
import { type BranchSegment, type ForkPoint, isShownRun, moveToFront, queriesIn, readLineage } from "./branches.ts";
import { Content } from "./long_values.ts";
import { titleFromRequest } from "./conversations.ts";
import { Damage, type Database, fromJson, insertRow, namedQuery, searchText, toJson, updateRow } from "./database.ts";
import { endIteration, readIterations } from "./iterations.ts";
import {
  changeQueryMetadata,
  checkFence,
  dropLease,
  type IsAlive,
  isAliveNow,
  isSame,
  lastIteration,
  newestThinkings,
  putLease,
  type QueryMetadata,
  takeLease,
} from "./runs.ts";
import type { Asked, EndOfIteration, LeftQuery, NewQuery, PreviousTurn, ProcessOwner, QueryExtras } from "./store.ts";
import type { DatabaseSchema } from "./tables.ts";

const TITLE_CHARS = 100;

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
  // `takeLease` has ended the queries that the previous process left running.
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
    metadata: toJson({
      ...{ iterations: 0, usage: NO_USAGE, costUsd: null, byModel: {} },
      ...query.only ? { only: query.only } : {},
    }),
    createdAt: now,
  });
  const { requestKey } = query;
  if (requestKey) await keepRequestKey(tx, { requestKey, queryId: id, now });
  return id;
}

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

async function readBranch(tx: Database, branchId: string) {
  const [row] = await branchToBegin(tx, { branchId });
  if (!row) {
    throw new UsageError(
      `Cannot continue branch ${branchId}: no branch has this id, or its conversation was deleted; ` +
        "choose another conversation, or start a new one",
    );
  }
  const { conversationId, activity, runId, host, space, pid, started, session, ...rest } = row;
  if (conversationId === null || activity === null) {
    throw new Damage(`the conversation of branch ${branchId} is missing`);
  }
  const isHeld = host !== null && space !== null && pid !== null && started !== null && session !== null;
  const holder = isHeld ? { host, space, pid, started, session } : null;
  return { ...rest, branchId, conversationId, activity, runId, holder };
}

interface RunPlace {
  readonly soulId: string;
  readonly version: number;
}

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

async function anotherRun(
  tx: Database,
  { query: { retryOf = "" }, branch }: { readonly query: NewQuery; readonly branch: BranchToBegin },
): Promise<RunPlace> {
  const { runId, soulId, runs, version, status } = branch;
  if (runId !== retryOf || soulId === null || runs === null || version === null) {
    throw new UsageError(
      `Cannot retry request ${retryOf}: it is not the newest run of the last request of its branch; fork the conversation before it`,
    );
  }
  if (status === "running") {
    throw new UsageError(`Cannot retry request ${retryOf}: it is still running; wait until it ends, or cancel it`);
  }
  await updateRow(tx, "querySoul", { id: soulId, changes: { runs: runs + 1 } });
  return { soulId, version: version + 1 };
}

const KEPT_MS = 24 * 3_600_000;

async function keepRequestKey(
  tx: Database,
  { requestKey, queryId, now }: { readonly requestKey: RequestKey; readonly queryId: string; readonly now: number },
): Promise<void> {
  const { branchId, key, fingerprint, replaces } = requestKey;
  await tx.deleteFrom("requestKey").where("createdAt", "<=", now - KEPT_MS).execute();
  const known = await findRequestKey(tx, { branchId, key, now });
  const isOther = known !== null && known.queryId !== queryId;
  if (isOther && known.queryId !== replaces) {
    throw new BusyError(
      `Cannot start the request: request ${known.queryId} has the same key (${key}) and has already begun; ` +
        "send the request again to get that answer",
    );
  }
  if (isOther) {
    await tx.deleteFrom("requestKey").where("key", "=", key).where("queryStateId", "=", known.queryId).execute();
  }
  const row = { conversationStateId: branchId, key, fingerprint, queryStateId: queryId, createdAt: now };
  await insertRow(tx, "requestKey", row);
}

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

export async function queryById(db: Database, queryId: string): Promise<StoredQuery | null> {
  const rows = await runById(db, { queryId });
  const [found] = await shownQueries(new Content(db), rows.map((row) => ({ row, until: null })));
  return found ?? null;
}

export async function attemptsOf(db: Database, queryId: string): Promise<readonly string[]> {
  const rows = await db.selectFrom("queryState as s").innerJoin("queryState as m", "m.querySoulId", "s.querySoulId")
    .select("m.id").where("s.id", "=", queryId).orderBy("m.version").execute();
  return rows.map(({ id }) => id);
}

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
  readonly llmRootModel: string | null;
  readonly status: DatabaseSchema["queryState"]["status"];
  readonly metadata: string | null;
  readonly soulMetadata: string | null;
  readonly createdAt: number;
}

function queryRows(db: Database) {
  return db.selectFrom("queryState as s")
    .innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .innerJoin("conversationState as c", "c.id", "q.conversationStateId")
    .select(["s.id as queryId", "c.conversationSoulId as conversationId", "c.id as branchId"])
    .select(["q.query", "s.llmRootModel", "s.status", "s.metadata"])
    .select(["q.metadata as soulMetadata", "s.createdAt"]);
}

const runById = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  queryRows(db).where("s.id", "=", queryId)
);

const EARLIER = 12;

const runsBefore = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  queryRows(db).select(["q.number", "c.parentStateId"])
    .innerJoin("querySoul as m", (join) =>
      join.onRef("m.conversationStateId", "=", "q.conversationStateId")
        .on("q.number", "<", sql.ref<number>("m.number"))
        .on("q.number", ">=", sql<number>`m.number - ${sql.lit(EARLIER)}`))
    .innerJoin("queryState as r", "r.querySoulId", "m.id")
    .where("r.id", "=", queryId).where("s.version", "=", sql<number>`q.runs - 1`)
    .orderBy("q.number")
);

interface ShownRow {
  readonly row: QueryRow;
  readonly until: ForkPoint | null;
}

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

async function shownQueries(content: Content, shown: readonly ShownRow[]): Promise<readonly StoredQuery[]> {
  await content.load(shown.flatMap(({ row }) => [row.metadata, row.soulMetadata]));
  const queries: StoredQuery[] = [];
  for (const { row, until } of shown) {
    const query = storedQuery(content, row);
    queries.push(until ? await cutAt(query, { content, until }) : query);
  }
  return queries;
}

async function cutAt(
  query: StoredQuery,
  { content, until: { position } }: { readonly content: Content; readonly until: ForkPoint },
): Promise<StoredQuery> {
  const iterations = position + 1;
  if (!query.running && iterations >= query.iterations) return query;
  const { queryId, conversationId, branchId, text, model, createdAt, steered, only, images } = query;
  const { nextAt, ms, ...spent } = await spentUntil(content, { queryId, position, begun: createdAt });
  const work = await recordedWork(content, { queryId, position });
  return {
    ...{ queryId, conversationId, branchId, text, model, createdAt, iterations, ...spent },
    ms: query.running ? ms : Math.min(ms, query.ms),
    steered: steered.filter(({ iteration }) => iteration <= iterations),
    notes: [`Forked after step ${iterations}`, ...work.text === "" ? [] : [work.text]],
    work,
    ...only ? { only } : {},
    ...images ? { images } : {},
    ...{ running: false, status: "interrupted", reason: "forked" },
    ...{ answer: "", answerType: "text", confidence: null },
    ...(nextAt === undefined ? {} : { forkedAt: nextAt }),
  };
}

function storedQuery(content: Content, row: QueryRow): StoredQuery {
  const soul = fromJson<ExtrasMetadata & { query: string }>(content.text(row.soulMetadata ?? "{}"));
  const facts = fromJson<QueryMetadata>(content.text(row.metadata ?? "{}"));
  const known = {
    queryId: row.queryId,
    conversationId: row.conversationId,
    branchId: row.branchId,
    text: soul.query ?? row.query ?? "",
    model: row.llmRootModel ?? "",
    createdAt: row.createdAt,
    answer: facts.answer ?? "",
    answerType: facts.answerType ?? "text",
    confidence: facts.confidence ?? null,
    iterations: facts.iterations ?? 0,
    usage: facts.usage ?? NO_USAGE,
    costUsd: facts.costUsd ?? null,
    ms: facts.ms ?? 0,
    notes: facts.notes ?? [],
    steered: facts.steered ?? [],
    ...(facts.noAnswer ? { noAnswer: true as const } : {}),
    ...(facts.temporary ? { temporary: true as const } : {}),
    ...(facts.work ? { work: facts.work } : {}),
    ...(facts.only && READING_MODES.includes(facts.only) ? { only: facts.only } : {}),
    ...(soul.images?.length ? { images: soul.images.length } : {}),
  };
  const { status } = row;
  if (status === "running") {
    const { approval, waiting = [] } = facts;
    const waits = approval?.answer === null ? { question: approvalLine(approval.question) } : {};
    return { ...known, running: true, status, reason: null, waiting, ...waits, ...(approval ? { approval } : {}) };
  }
  const { reason = "process_lost" } = facts;
  return {
    ...known,
    running: false,
    status,
    reason,
    ...(reason === "process_lost" ? { temporary: true as const } : {}),
  };
}

/** The rows of ended queries do not change, so no snapshot is necessary. */
export async function previousTurn(
  tx: Database,
  { branchId, before }: { readonly branchId: string; readonly before: string },
): Promise<PreviousTurn | null> {
  const { rows, more } = await rowsBefore(tx, { branchId, before });
  const content = new Content(tx);
  const queries = await shownQueries(content, rows);
  const [newest, found] = [queries.at(-1), rows.at(-1)];
  if (!newest || !found || newest.running) return null;
  const images = rows.map(({ row }) => {
    return fromJson<ExtrasMetadata>(content.text(row.soulMetadata ?? "{}")).images?.length ?? 0;
  });
  const shown = queries.map(({ text, steered, answer, reason, only }, at) => ({
    ...{ text, answer, images: images[at] ?? 0, steered: steered.map((one) => one.text) },
    unfinished: reason === "answered" ? null : reason,
    ...(only ? { only } : {}),
  }));
  let from = newest, at = queries.length - 1, left = await leftBy(content, { query: newest, until: found.until });
  for (let before = at - 1; left === null && before >= 0; before--) {
    const [query, row] = [queries[before], rows[before]];
    if (!query || !row || query.running) continue;
    left = await leftBy(content, { query, until: row.until });
    if (left !== null) [from, at] = [query, before];
  }
  const { text, answer, status, notes, only } = from;
  const seen = images[at] ?? 0;
  return {
    ...{ queryId: newest.queryId, text, answer, status, thinkings: [], earlier: { shown, more } },
    idle: fromJson<QueryMetadata>(content.text(found.row.metadata ?? "{}")).idle === true,
    ...(notes.length > 0 ? { notes } : {}),
    ...(seen > 0 ? { images: seen } : {}),
    ...left,
    ...(only ? { only } : {}),
    ...(from === newest ? {} : { since: { text: newest.text, answer: newest.answer } }),
  };
}

/** Returns null for a query that left neither work nor an accepted answer, such as a query that the user cancelled
 * before its first reply. */
async function leftBy(
  content: Content,
  { query: { queryId, status, iterations, work, createdAt: since }, until: fork }: {
    readonly query: StoredQuery;
    readonly until: ForkPoint | null;
  },
): Promise<Pick<PreviousTurn, "thinkings" | "pending" | "printed" | "changes"> | null> {
  const until = fork ? iterations : Number.MAX_SAFE_INTEGER;
  const [thinkings, pending, printed, diffs] = await together([
    newestThinkings(content, { queryId, until }),
    status === "done" ? [] : pendingBlocks(content.db, queryId),
    status === "done" || fork !== null ? "" : cutOutput(content.db, queryId),
    work?.files === 0 ? [] : diffsOf(content, { queryId, until }),
  ]);
  const acted = work !== undefined && work.commands.length + work.others.length > 0;
  const texts = [...thinkings, ...pending, printed, ...diffs];
  if (status !== "done" && !acted && texts.every((text) => text === "")) return null;
  return {
    thinkings,
    ...(pending.length > 0 ? { pending } : {}),
    ...(printed === "" ? {} : { printed }),
    ...(diffs.length > 0 ? { changes: { queryId, since, diffs } } : {}),
  };
}

const WITH_DIFFS = 50;

const metadataBefore = namedQuery((db, { queryId, until }: { readonly queryId: string; readonly until: number }) =>
  db.selectFrom("iteration as i").select("i.metadata").where("i.queryStateId", "=", queryId)
    .where("i.position", "<", until).orderBy("i.position", "desc").limit(WITH_DIFFS)
);

async function diffsOf(
  content: Content,
  where: { readonly queryId: string; readonly until: number },
): Promise<readonly string[]> {
  const cells = (await metadataBefore(content.db, where)).map(({ metadata }) => metadata ?? "{}").reverse();
  await content.load(cells);
  return cells.flatMap((cell) => storedDiffs(fromJson<Record<string, unknown>>(content.text(cell))));
}

const numberOfRun = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId").select("q.number")
    .where("s.id", "=", queryId)
);

/** If the query does not exist, the search begins at the end of the branch. */
async function rowsBefore(
  tx: Database,
  { branchId, before }: { readonly branchId: string; readonly before: string },
): Promise<{ readonly rows: readonly ShownRow[]; readonly more: number }> {
  const runs = await runsBefore(tx, { queryId: before });
  const own = runs.map((row) => ({ row, until: null }));
  const count = (runs.at(-1)?.number ?? -1) + 1;
  const [first] = runs;
  if (first?.parentStateId === null) return { rows: own, more: count - own.length };
  const [mark] = first ? [first] : await numberOfRun(tx, { queryId: before });
  const [branch, ...ancestors] = await readLineage(tx, branchId);
  // The newest query may be running, so Vis reads one more row.
  const all = mark ? own : await shownRows(tx, { lineage: [branch], newest: EARLIER + 1 });
  const mine = all.filter(({ row }) => row.status !== "running");
  const rest = Math.max(0, EARLIER - mine.length);
  const inherited = await shownRows(tx, { lineage: ancestors, newest: rest });
  const counts = await together([mark ? count : queriesIn(tx, branch), ...ancestors.map((one) => queriesIn(tx, one))]);
  const rows = [...inherited, ...mine].slice(-EARLIER);
  const total = counts.reduce((sum, count) => sum + count, mine.length - all.length);
  return { rows, more: total - rows.length };
}

async function pendingBlocks(db: Database, queryId: string): Promise<readonly string[]> {
  const last = await lastIteration(db, queryId);
  if (last?.status !== "interrupted") return [];
  const content = new Content(db);
  await content.load([last.metadata]);
  return fromJson<{ readonly pendingBlocks: readonly string[] }>(content.text(last.metadata ?? "{}")).pendingBlocks ??
    [];
}

async function cutOutput(db: Database, queryId: string): Promise<string> {
  const last = await lastIteration(db, queryId);
  if (last?.status !== "interrupted") return "";
  const [iteration] = await readIterations(db, queryId, { after: last.position - 1, limit: 1 });
  const texts = (iteration?.blocks ?? []).flatMap(({ result: { stdout, stderr, calls } }) =>
    [stdout, stderr, BlockTally.of(calls).output].map((text) => text.trimEnd())
  );
  return texts.filter((text) => text !== "").join("\n");
}

type StoredImage =
  | { readonly url: string }
  | { readonly mediaType: string; readonly base64: string }
  | { readonly mediaType: string; readonly content: string };

interface ExtrasMetadata {
  readonly images?: readonly StoredImage[];
  readonly answerSchema?: string;
  readonly askedAs?: Asked;
}

async function extrasMetadata(
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

const queryToEnd = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .leftJoin("iteration as i", (join) => join.onRef("i.queryStateId", "=", "s.id").on("i.status", "=", "running"))
    .select(["s.status", "q.conversationStateId as branchId", "s.metadata", "i.id as iterationId"])
    .where("s.id", "=", queryId)
    .select(db.dialect.holderOf("s.id").as("holder")).forNoKeyUpdate("s")
);

export async function endQuery(
  db: Database,
  { queryId, end, now }: { readonly queryId: string; readonly end: QueryEnd; readonly now: number },
): Promise<void> {
  const rows = await queryToEnd(db, { queryId });
  const [row] = rows;
  if (!row) throw new Error(`Cannot end request ${queryId}: it does not exist`);
  await checkFence(db, { ...row, id: queryId });
  if (row.status !== "running") return;
  const left = rows.flatMap(({ iterationId }) => iterationId === null ? [] : { id: iterationId });
  if (end.status === "done" && left.length > 0) {
    throw new Error(`Cannot end request ${queryId}: its last step has not ended`);
  }
  await storeEnd(db, { ...row, queryId, end });
  await interruptIterations(left, { db, now });
}

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

const runningIterations = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("iteration").select("id").where("queryStateId", "=", queryId).where("status", "=", "running")
);

async function interruptIterations(
  iterations: readonly { readonly id: string }[],
  { db, now }: { readonly db: Database; readonly now: number },
): Promise<void> {
  for (const { id } of iterations) {
    await updateRow(db, "iteration", { id, changes: { status: "interrupted", finishedAt: now } });
  }
}

function firstWords(text: string, maxChars: number): string {
  const line = text.slice(0, maxChars * 4).replace(/\s+/g, " ").trim();
  if (line.length <= maxChars && text.length <= maxChars * 4) return line;
  const cut = line.slice(0, maxChars - 1);
  const space = cut.lastIndexOf(" ");
  return `${space > maxChars / 2 ? cut.slice(0, space) : cut}…`.toWellFormed();
}

async function spentOf(
  tx: Database,
  { queryId, facts }: { readonly queryId: string; readonly facts: Partial<QueryMetadata> },
): Promise<Spend> {
  const before = { usage: facts.usage ?? NO_USAGE, costUsd: facts.costUsd ?? null };
  const cut = await tx.selectFrom("iteration").select("id")
    .where("queryStateId", "=", queryId).where("status", "=", "running").executeTakeFirst();
  return cut ? (await spentBelow(new Content(tx), [cut.id])).reduce(addSpend, before) : before;
}

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

async function recordedWork(
  content: Content,
  { queryId, position = null }: { readonly queryId: string; readonly position?: number | null },
): Promise<Work> {
  const work = new QueryWork(), files = new ChangedFiles();
  const add = async (of: string, until: number | null): Promise<void> => {
    const rows = await content.db.selectFrom("iteration as i").select(["i.id", "i.metadata"])
      .where("i.queryStateId", "=", of).where("i.position", "<=", until ?? Number.MAX_SAFE_INTEGER)
      .orderBy("i.position").execute();
    if (rows.length === 0) return;
    const ids = rows.map(({ id }) => id);
    const blocks = await content.db.selectFrom("expressionState as e")
      .innerJoin("expressionSoul as s", "s.id", "e.expressionSoulId").select(["e.iterationId", "e.metadata"])
      .where("e.iterationId", "in", ids).where("s.kind", "<>", "var").execute();
    const below = await content.db.selectFrom("childBranch as c")
      .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
      .innerJoin("queryState as s", "s.querySoulId", "q.id")
      .select("s.id").where("c.iterationId", "in", ids).execute();
    await content.load([...rows, ...blocks].map(({ metadata }) => metadata));
    for (const { id } of below) await add(id, null);
    const calls = blocks.map(({ iterationId, metadata }) => {
      const facts = fromJson<{ readonly index: number; readonly calls: readonly BlockCall[] }>(
        content.text(metadata ?? "{}"),
      );
      return { at: ids.indexOf(iterationId), index: facts.index ?? 0, calls: facts.calls ?? [] };
    }).sort((one, other) => one.at - other.at || one.index - other.index);
    for (const call of calls.flatMap((block) => block.calls)) work.take(call);
    for (const { metadata } of rows) {
      for (const diff of storedDiffs(fromJson<Record<string, unknown>>(content.text(metadata ?? "{}")))) {
        files.add(diff);
      }
    }
  };
  await add(queryId, position);
  return work.facts(files, { claimed: false });
}

interface LostRun {
  readonly queryId: string;
  readonly branchId: string;
  readonly createdAt: number;
  readonly owner: ProcessOwner | null;
  readonly facts: Partial<QueryMetadata>;
}

export async function sweepLost(
  db: Database,
  { isAlive, now }: { readonly isAlive: IsAlive; readonly now: () => number },
): Promise<number> {
  if ((await lostOf(db, { isAlive, now: now() })).length === 0) return 0;
  return await db.write(async (tx) => {
    const lost = await lostOf(tx, { isAlive, now: now() });
    for (const query of lost) await endLost(tx, { ...query, now: now() });
    return lost.length;
  });
}

async function lostOf(
  db: Database,
  { isAlive, now }: { readonly isAlive: IsAlive; readonly now: number },
): Promise<readonly LostRun[]> {
  const lost: LostRun[] = [];
  for (const query of await running(db)) {
    const { owner } = query;
    if (owner === null || !await isAliveNow(db, { owner, isAlive, now })) lost.push(query);
  }
  return lost;
}

async function endLeftOf(
  tx: Database,
  { owner, gone, branchId, now }: {
    readonly owner: ProcessOwner;
    readonly gone: boolean;
    readonly branchId: string;
    readonly now: number;
  },
): Promise<void> {
  for (const query of await running(tx)) {
    const its = query.owner !== null && isSame(query.owner, owner);
    if (query.branchId === branchId || (gone && its)) await endLost(tx, { ...query, now });
  }
}

/** Deeper queries come first, because the spend of a query includes the spend of its sub-queries. */
async function running(db: Database): Promise<LostRun[]> {
  const rows = await db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .leftJoin("childBranch as c", "c.conversationStateId", "q.conversationStateId")
    .leftJoin("lease as l", "l.conversationStateId", "q.conversationStateId")
    .select(["s.id", "s.createdAt", "s.metadata", "q.conversationStateId as branchId", "c.depth"])
    .select(["l.host", "l.space", "l.pid", "l.started", "l.session"])
    .where("s.status", "=", "running").where(db.dialect.hasNoJob("s.id")).execute();
  const content = new Content(db);
  await content.load(rows.map((row) => row.metadata));
  return rows.sort((a, b) => (b.depth ?? 0) - (a.depth ?? 0)).map((row) => {
    const { id, branchId, createdAt, metadata, host, space, pid, started, session } = row;
    const facts = fromJson<QueryMetadata>(content.text(metadata ?? "{}"));
    const isHeld = host !== null && space !== null && pid !== null && started !== null && session !== null;
    return { queryId: id, branchId, createdAt, owner: isHeld ? { host, space, pid, started, session } : null, facts };
  });
}

async function endLost(
  tx: Database,
  { queryId, createdAt, facts, now }: Omit<LostRun, "owner" | "branchId"> & { readonly now: number },
): Promise<void> {
  const kept = await tx.selectFrom("iteration")
    .select((i) => [i.fn.countAll<number>().as("count"), i.fn.max("finishedAt").as("last")])
    .where("queryStateId", "=", queryId).where("status", "<>", "running").executeTakeFirstOrThrow();
  const steps = kept.count === 0
    ? "No step had finished"
    : `${counted(kept.count, "finished step")} ${kept.count === 1 ? "is" : "are"} kept`;
  const { notes, ...answered } = await acceptedFinal(tx, queryId) ?? {
    status: "interrupted",
    reason: "process_lost",
    answer: `Vis ended or stopped responding while it ran this request. ${steps}.`,
    answerType: "text",
    confidence: null,
    notes: [],
  };
  const work = await recordedWork(new Content(tx), { queryId });
  await endQuery(tx, {
    queryId,
    now,
    end: {
      ...answered,
      notes: [...notes, ...work.text === "" ? [] : [work.text]],
      work,
      iterations: kept.count,
      ...await spentOf(tx, { queryId, facts }),
      // Vis does not know when the process ended, so the end of its last iteration counts.
      ms: Math.max(0, (kept.last ?? createdAt) - createdAt),
    },
  });
}

type Run = Omit<LostRun, "owner">;

export async function takeOverRun(
  tx: Database,
  { queryId, owner, now }: { readonly queryId: string; readonly owner: ProcessOwner; readonly now: number },
): Promise<LeftQuery | null> {
  const row = await tx.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .select(["s.id", "s.status", "s.metadata", "s.createdAt", "q.conversationStateId as branchId"])
    .select(tx.dialect.holderOf("s.id").as("holder"))
    .where("s.id", "=", queryId).forNoKeyUpdate("s").executeTakeFirst();
  if (!row) return null;
  await checkFence(tx, row);
  if (row.status !== "running") return null;
  for (const below of await runsBelow(tx, queryId)) await endLost(tx, { ...below, now });
  const run = await runOf(tx, row);
  if (await acceptedFinal(tx, queryId)) {
    await endLost(tx, { ...run, now });
    return null;
  }
  const spent = await spentOf(tx, run);
  const { branchId } = run;
  // The lost process would not get an answer of the user.
  const { approval } = run.facts;
  if (approval?.answer === null) {
    const answer = { decision: "no" as const, reason: "the process that asked has ended" };
    const withdrawn = { question: approval.question, answer };
    await changeQueryMetadata(tx, { queryId, cell: row.metadata, change: () => ({ approval: withdrawn }) });
  }
  await interruptIterations(await runningIterations(tx, { queryId }), { db: tx, now });
  await dropLease(tx, branchId);
  await putLease(tx, { branchId, owner, now });
  return { ...spent, subcalls: await countSubcalls(tx, queryId) };
}

interface Row extends Pick<Run, "branchId" | "createdAt"> {
  readonly id: string;
  readonly metadata: string | null;
}

async function runOf(tx: Database, { id, metadata, branchId, createdAt }: Row): Promise<Run> {
  const content = new Content(tx);
  await content.load([metadata]);
  return { queryId: id, branchId, createdAt, facts: fromJson<QueryMetadata>(content.text(metadata ?? "{}")) };
}

async function runsBelow(tx: Database, queryId: string): Promise<readonly Run[]> {
  const rows = await tx.selectFrom("childBranch as c").innerJoin("iteration as i", "i.id", "c.iterationId")
    .innerJoin("querySoul as q", "q.conversationStateId", "c.conversationStateId")
    .innerJoin("queryState as s", "s.querySoulId", "q.id")
    .select(["s.id", "s.metadata", "s.createdAt", "q.conversationStateId as branchId"])
    .where("i.queryStateId", "=", queryId).where("s.status", "=", "running").execute();
  const found: Run[] = [];
  for (const row of rows) found.push(...await runsBelow(tx, row.id), await runOf(tx, row));
  return found;
}

async function countSubcalls(tx: Database, queryId: string): Promise<number> {
  const { rows: [row] } = await sql<{ readonly count: number }>`
    SELECT (SELECT count(*) FROM sub_call c JOIN iteration i ON i.id = c.iteration_id WHERE i.query_state_id = ${queryId})
      + (SELECT count(*) FROM child_branch c JOIN iteration i ON i.id = c.iteration_id
         WHERE i.query_state_id = ${queryId}) AS count`.execute(tx);
  return row?.count ?? 0;
}

interface FinalMetadata {
  readonly outcome: string;
  readonly last: boolean;
  readonly answerType: QueryEnd["answerType"];
  readonly confidence: QueryEnd["confidence"];
  readonly answerNotes: readonly string[];
}

/** Returns null without an accepted final, and after the fallback call, whose reason is unknown. */
async function acceptedFinal(
  tx: Database,
  queryId: string,
): Promise<Pick<QueryEnd, "status" | "reason" | "answer" | "answerType" | "confidence" | "notes"> | null> {
  const last = await lastIteration(tx, queryId);
  if (last?.status !== "done") return null;
  const content = new Content(tx);
  await content.load([last.metadata]);
  const facts = fromJson<FinalMetadata>(content.text(last.metadata ?? "{}"));
  if (facts.outcome !== "final" || facts.last) return null;
  const rows = await tx.selectFrom("expressionState as e")
    .innerJoin("expressionSoul as s", "s.id", "e.expressionSoulId")
    .select(["e.result", "s.name"]).where("e.iterationId", "=", last.id)
    .execute();
  const stored = rows.find(({ name }) => name === "$answer");
  if (!stored?.result) return null;
  await content.load([stored.result]);
  return {
    status: "done",
    reason: "answered",
    answer: new TextDecoder().decode(content.bytes(stored.result)),
    answerType: facts.answerType ?? "text",
    confidence: facts.confidence ?? null,
    notes: facts.answerNotes ?? [],
  };
}

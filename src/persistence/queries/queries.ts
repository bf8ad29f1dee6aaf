import { UsageError } from "../../domain/errors.ts";
import { newId } from "../../domain/kit/id.ts";
import type { NewestQueries } from "../../domain/records/newest_queries.ts";
import { together } from "../../domain/kit/together.ts";
import { NO_USAGE } from "../../domain/query/usage.ts";
import { verifyAbsent } from "../database/absent.ts";
import { moveToFront } from "../runs/activity.ts";
import { namedQuery } from "../database/named_query.ts";
import { Content } from "../content/content.ts";
import type { Database } from "../database/database.ts";
import { insertRow } from "../database/insert_row.ts";
import { insertQuerySoul } from "./insert_query_soul.ts";
import { intact } from "../schema/intact.ts";
import { fromJson, toJson } from "../database/json.ts";
import { newestIterations } from "../runs/last_iteration.ts";
import { type BranchSegment, type ForkPoint, isShownRun, readLineage } from "../branches/lineage.ts";
import { type IsAlive, takeLease } from "./leases.ts";
import { newestRun, type RunRow } from "../runs/newest_run.ts";
import { endLeftOf } from "./sweep.ts";
import { countImages } from "./extras.ts";
import type { QueryMetadata } from "../runs/query_metadata.ts";
import { makeDigest, nextRun, queriesIn, verifyNumbers } from "../runs/query_numbers.ts";
import { pendingBlocks } from "./pending_blocks.ts";
import { keepRequestKey } from "./request_keys.ts";
import type { DatabaseSchema } from "../schema/schema.ts";
import { titleFromRequest } from "../conversations/titles.ts";
import type { NewQuery, PreviousTurn } from "../store/query_store.ts";
import type { StoredQuery } from "../../domain/query/stored_query.ts";

const HANDED_OVER_THINKINGS = 2;

interface QueryRow {
  readonly queryId: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly query: string | null;
  readonly status: DatabaseSchema["queryState"]["status"];
  readonly metadata: string | null;
  readonly soulMetadata: string | null;
  readonly createdAt: number;
  readonly number: number;
}

/** The rows of `query_soul` and `query_state`. */
export class Queries {
  readonly #db: Database;
  readonly #now: () => number;
  readonly #isAlive: IsAlive;

  constructor(
    db: Database,
    { now, isAlive }: { readonly now: () => number; readonly isAlive: IsAlive },
  ) {
    this.#db = db;
    this.#now = now;
    this.#isAlive = isAlive;
  }

  begin(query: NewQuery): Promise<string> {
    const { text, owner } = query;
    return this.#db.write(async (tx) => {
      const { branchId } = query;
      const now = this.#now();
      const content = new Content(tx);
      const id = query.queryId ?? newId();
      // The first one locks the branch; none reads what another one changes.
      const [, , , first] = await together([
        titleFromRequest(tx, { branchId, text }),
        takeLease(tx, {
          ...{ branchId, owner, isAlive: this.#isAlive, now },
          endLeft: (left) => endLeftOf(tx, { ...left, branchId, now }),
        }),
        moveToFront(tx, branchId),
        query.retryOf === undefined ? firstRun(content, { query, now }) : null,
      ]);
      const { soulId, version, variables } = first ?? await anotherRun(tx, query);
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
      if (variables === null) await makeDigest(tx, branchId);
      return id;
    });
  }

  async byId(queryId: string): Promise<StoredQuery | null> {
    const [found] = await this.#read(this.#db, await rowsOf(this.#db).where("s.id", "=", queryId).execute());
    if (!found) await verifyAbsent(this.#db, { table: "queryState", id: queryId });
    return found ?? null;
  }

  /** Queries of its ancestors up to the fork come before its own. */
  async ofBranch(branchId: string, { newest = Infinity }: NewestQueries = {}): Promise<readonly StoredQuery[]> {
    return await this.#db.read(async (tx) => await this.#ofLineage(tx, await readLineage(tx, branchId), newest));
  }

  async #ofLineage(tx: Database, lineage: readonly BranchSegment[], newest: number): Promise<readonly StoredQuery[]> {
    const found: StoredQuery[] = [];
    for (const segment of lineage) {
      found.unshift(...await this.#ofSegment(tx, { segment, newest: newest - found.length }));
      if (found.length >= newest) break;
    }
    return found;
  }

  async #ofSegment(
    tx: Database,
    { segment, newest }: { readonly segment: BranchSegment; readonly newest: number },
  ): Promise<readonly StoredQuery[]> {
    const { branchId } = segment;
    const to = await queriesIn(tx, segment);
    const from = Math.max(0, to - newest);
    const rows = await rowsOf(tx).where("q.conversationStateId", "=", branchId).where("q.number", ">=", from)
      .where((on) => isShownRun(on, segment)).orderBy("q.number").execute();
    verifyNumbers(rows, { from, to, branchId });
    const queries = await this.#read(tx, rows);
    return queries.map((query) => query.queryId === segment.until?.queryId ? cutAt(query, segment.until) : query);
  }

  async previousTurn(branchId: string, beforeQueryId: string): Promise<PreviousTurn | null> {
    return await this.#db.read(async (tx) => {
      const [[own, ...ancestors], mark] = await together([
        readLineage(tx, branchId),
        numberOfRun(tx, { queryId: beforeQueryId }),
      ]);
      const mine = await this.#lastBefore(tx, { segment: own, queryId: beforeQueryId, number: mark[0]?.number });
      const before = mine ?? (await this.#ofLineage(tx, ancestors, 1)).at(-1);
      if (!before || before.running) return null;
      const { text, answer, status, queryId, iterations, notes } = before;
      const shown = ancestors.some(({ until }) => until?.queryId === queryId) ? iterations : Infinity;
      const [images, thinkings, pending] = await together([
        countImages(tx, queryId),
        this.#lastThinkings(tx, { queryId, shown }),
        // A query that ends with an answer leaves no running block.
        status === "done" ? [] : pendingBlocks(tx, queryId),
      ]);
      return {
        ...{ text, answer, status, thinkings },
        ...(notes.length > 0 ? { notes } : {}),
        ...(images > 0 ? { images } : {}),
        ...(pending.length > 0 ? { pending } : {}),
      };
    });
  }

  /** The last ended run before this one, or of all runs if this one is unknown. */
  async #lastBefore(
    tx: Database,
    { segment, queryId, number }: {
      readonly segment: BranchSegment;
      readonly queryId: string;
      readonly number: number | undefined;
    },
  ): Promise<StoredQuery | undefined> {
    const { branchId } = segment;
    if (number === undefined && queryId !== "") await verifyAbsent(tx, { table: "queryState", id: queryId });
    const to = number ?? await queriesIn(tx, segment);
    // Only the newest can be running.
    const from = Math.max(0, to - 2);
    const rows = await queriesBetween(tx, { branchId, from, to });
    verifyNumbers(rows, { from, to, branchId });
    const queries = await this.#read(tx, rows);
    return queries.findLast(({ running }) => !running);
  }

  async #lastThinkings(
    tx: Database,
    { queryId, shown }: { readonly queryId: string; readonly shown: number },
  ): Promise<string[]> {
    const cells: string[] = [];
    const content = new Content(tx);
    for await (const { llmThinking } of newestIterations(tx, queryId, { until: shown })) {
      if (llmThinking) cells.unshift(llmThinking);
      if (cells.length === HANDED_OVER_THINKINGS) break;
    }
    await content.load(cells);
    return cells.map((cell) => content.text(cell));
  }

  async #read(db: Database, rows: readonly QueryRow[]): Promise<StoredQuery[]> {
    const content = new Content(db);
    await content.load(rows.flatMap((row) => [row.metadata, row.soulMetadata]));
    return rows.map((row) => {
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
      };
      const { status } = row;
      if (status === "running") return { ...known, running: true, status, reason: null };
      return { ...known, running: false, status, reason: facts.reason ?? "process_lost" };
    });
  }
}

const numberOfRun = namedQuery((db, { queryId }: { readonly queryId: string }) =>
  db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId").select("q.number")
    .where("s.id", "=", queryId).select(intact("queryState", "s")).select(intact("querySoul", "q"))
);

interface Numbers {
  readonly branchId: string;
  readonly from: number;
  readonly to: number;
}

const queriesBetween = namedQuery((db, { branchId, from, to }: Numbers) =>
  rowsOf(db).where("q.conversationStateId", "=", branchId).where("q.number", ">=", from).where("q.number", "<", to)
    .where((on) => isShownRun(on, { branchId, until: null })).orderBy("q.number")
);

function rowsOf(db: Database) {
  return db.selectFrom("queryState as s")
    .innerJoin("querySoul as q", "q.id", "s.querySoulId")
    .innerJoin("conversationState as c", "c.id", "q.conversationStateId")
    .select(["s.id as queryId", "c.conversationSoulId as conversationId", "c.id as branchId"])
    .select(["q.query", "s.status", "s.metadata", "q.number"])
    .select(["q.metadata as soulMetadata", "s.createdAt"])
    .select(intact("queryState", "s")).select(intact("querySoul", "q")).select(intact("conversationState", "c"));
}

/** The place of a run, and the digest of the branch before it. */
interface RunPlace {
  readonly soulId: string;
  readonly version: number;
  readonly variables: number | null;
}

/** Stores the request of a new query. */
async function firstRun(
  content: Content,
  { query, now }: { readonly query: NewQuery; readonly now: number },
): Promise<RunPlace> {
  const soulId = newId();
  const { variables } = await insertQuerySoul(content, { id: soulId, query, createdAt: now });
  return { soulId, version: 0, variables };
}

/** Makes room for another run of the last query. */
async function anotherRun(tx: Database, { branchId, retryOf = "" }: NewQuery): Promise<RunPlace> {
  const before = await lastRun(tx, branchId, retryOf);
  const { variables } = await nextRun(tx, { ...before, branchId });
  return { ...before, version: before.version + 1, variables };
}

/** The newest run of the last query of a branch. It can be replaced by another run. */
async function lastRun(tx: Database, branchId: string, queryId: string): Promise<RunRow> {
  const last = await newestRun(tx, branchId);
  if (last?.id !== queryId) {
    throw new UsageError(`Cannot retry query ${queryId}: it is not the last one of its branch; fork before it`);
  }
  if (last.status === "running") throw new UsageError(`Cannot retry query ${queryId}: it is still running`);
  return last;
}

/** The query of a fork as the fork sees it: without what came later. */
function cutAt(query: StoredQuery, { position }: ForkPoint): StoredQuery {
  const iterations = position + 1;
  if (!query.running && iterations >= query.iterations) return query;
  const notes = [`Forked after iteration ${iterations}`];
  const steered = query.steered.filter(({ iteration }) => iteration <= iterations);
  return {
    ...query,
    iterations,
    notes,
    steered,
    running: false,
    status: "interrupted",
    reason: "cancelled",
    answer: "",
  };
}

import { UsageError } from "../domain/errors.ts";
import { newId } from "../domain/id.ts";
import type { NewestQueries } from "../domain/newest_queries.ts";
import { NO_USAGE } from "../domain/usage.ts";
import { moveToFront } from "./_activity.ts";
import { compiledRows } from "./_compiled_rows.ts";
import { Content } from "./_content.ts";
import type { Database } from "./_database.ts";
import { endQuery } from "./_end_query.ts";
import { firstWords } from "./_first_words.ts";
import { insertRow } from "./_insert_row.ts";
import { fromJson, toJson } from "./_json.ts";
import { type ForkPoint, isShownRun, readLineage, type Segment } from "./_lineage.ts";
import { type IsAlive, renewLeases, takeLease } from "./_leases.ts";
import { newestRun, type Run, runBefore } from "./_newest_run.ts";
import { endLeftOf, sweepLost } from "./_sweep.ts";
import { pendingBlocks } from "./_pending_blocks.ts";
import { countImages, extrasMetadata } from "./_query_extras.ts";
import type { QueryMetadata } from "./_query_metadata.ts";
import { keepRequestKey } from "./_request_keys.ts";
import type { Schema } from "./_schema.ts";
import { searchText } from "./_search_text.ts";
import { titleFromRequest } from "./_titles.ts";
import type { NewQuery, PreviousTurn, ProcessOwner } from "./store.ts";
import type { QueryEnd, StoredQuery } from "../domain/stored_query.ts";

const TITLE_CHARS = 100;
const HANDED_OVER_THINKINGS = 2;

interface QueryRow {
  readonly queryId: string;
  readonly conversationId: string;
  readonly branchId: string;
  readonly query: string | null;
  readonly status: Schema["queryState"]["status"];
  readonly metadata: string | null;
  readonly soulMetadata: string | null;
  readonly createdAt: number;
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
    const column = searchText(text);
    return this.#db.write(async (tx) => {
      const { branchId } = query;
      const now = this.#now();
      await titleFromRequest(tx, { branchId, text });
      await takeLease(tx, {
        ...{ branchId, owner, isAlive: this.#isAlive, now },
        endLeft: (left) => endLeftOf(tx, { ...left, branchId, now }),
      });
      const content = new Content(tx);
      const id = newId();
      await moveToFront(tx, branchId);
      const before = query.retryOf === undefined ? null : await lastRun(tx, branchId, query.retryOf);
      const querySoulId = before?.soulId ?? newId();
      if (before === null) {
        await insertRow(tx, "querySoul", {
          id: querySoulId,
          conversationStateId: branchId,
          title: await content.putText(firstWords(text, TITLE_CHARS)),
          query: column,
          metadata: await content.putText(
            toJson({ ...(column === text ? {} : { query: text }), ...await extrasMetadata(content, query) }),
          ),
          createdAt: now,
        });
      }
      await insertRow(tx, "queryState", {
        id,
        querySoulId,
        forkedFromQueryStateId: query.retryOf ?? null,
        version: before === null ? 0 : before.version + 1,
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
    });
  }

  runBefore(queryId: string): Promise<string | null> {
    return runBefore(this.#db, queryId);
  }

  sweepLost(isAlive: IsAlive = this.#isAlive): Promise<number> {
    return sweepLost(this.#db, { isAlive, now: this.#now });
  }

  renewLeases(owner: ProcessOwner): Promise<readonly string[]> {
    return renewLeases(this.#db, { owner, now: this.#now() });
  }

  end(queryId: string, end: QueryEnd): Promise<void> {
    return this.#db.write((tx) => endQuery(tx, { queryId, end, now: this.#now() }));
  }

  async byId(queryId: string): Promise<StoredQuery | null> {
    return (await this.#read(await this.#rows().where("s.id", "=", queryId).execute()))[0] ?? null;
  }

  /** Those of its ancestors up to the fork stand before its own. */
  async ofBranch(branchId: string, { newest = Infinity }: NewestQueries = {}): Promise<readonly StoredQuery[]> {
    const lineage = await readLineage(this.#db, branchId);
    const [own] = lineage;
    if (own && Number.isFinite(newest)) {
      const rows = this.#rows().where("q.conversationStateId", "=", branchId).where((on) => isShownRun(on, own));
      const last = await rows.orderBy("q.rowid", "desc").limit(newest).execute();
      if (last.length === newest) return (await this.#read(last)).toReversed();
    }
    const found = await Promise.all(lineage.toReversed().map((segment) => this.#ofSegment(segment)));
    const all = found.flat();
    return all.slice(Math.max(0, all.length - newest));
  }

  async #ofSegment(segment: Segment): Promise<readonly StoredQuery[]> {
    const rows = this.#rows().where("q.conversationStateId", "=", segment.branchId)
      .where((on) => isShownRun(on, segment));
    const queries = await this.#read(await rows.orderBy("q.rowid").execute());
    return queries.map((query) => query.queryId === segment.until?.queryId ? cutAt(query, segment.until) : query);
  }

  async previousTurn(branchId: string, beforeQueryId: string): Promise<PreviousTurn | null> {
    const [own, parent] = await readLineage(this.#db, branchId);
    const rows = await this.#lastBefore(own, await this.#placeOf(beforeQueryId));
    const [mine] = await this.#read(rows);
    const before = mine ??
      (parent && (await this.ofBranch(branchId)).findLast(({ queryId }) => queryId !== beforeQueryId));
    if (!before || before.running) return null;
    const { text, answer, status, queryId, iterations } = before;
    const shown = queryId === parent?.until?.queryId ? iterations : Infinity;
    const images = await countImages(this.#db, queryId);
    const thinkings = await this.#lastThinkings(queryId, shown);
    // What ends with an answer leaves no block that runs.
    const pending = status === "done" ? [] : await pendingBlocks(this.#db, queryId);
    return {
      ...{ text, answer, status, thinkings },
      ...(images > 0 ? { images } : {}),
      ...(pending.length > 0 ? { pending } : {}),
    };
  }

  /** The place of a run among the queries of its branch; after all of them for one that is not known. */
  async #placeOf(queryId: string): Promise<number> {
    const [found] = await compiledRows(this.#db, {
      name: "place of a run",
      build: () =>
        this.#db.selectFrom("queryState as s").innerJoin("querySoul as q", "q.id", "s.querySoulId")
          .select("q.rowid as place").where("s.id", "=", queryId),
      parameters: [queryId],
    });
    return found?.place ?? Number.MAX_SAFE_INTEGER;
  }

  async #lastBefore({ branchId }: Segment, place: number) {
    return await compiledRows<QueryRow>(this.#db, {
      name: "last query before another",
      build: () =>
        this.#rows().where("q.conversationStateId", "=", branchId).where("s.status", "<>", "running")
          .where((on) => isShownRun(on, { branchId, until: null })).where("q.rowid", "<", place)
          .orderBy("q.rowid", "desc").limit(1),
      parameters: [branchId, "running", place, 1],
    });
  }

  async #lastThinkings(queryId: string, shown: number): Promise<string[]> {
    const until = Number.isFinite(shown) ? shown : Number.MAX_SAFE_INTEGER;
    const rows = await compiledRows(this.#db, {
      name: "last thinkings",
      build: () =>
        this.#db.selectFrom("iteration").select("llmThinking")
          .where("queryStateId", "=", queryId).where("llmThinking", "<>", "").where("position", "<", until)
          .orderBy("position", "desc").limit(HANDED_OVER_THINKINGS),
      parameters: [queryId, "", until, HANDED_OVER_THINKINGS],
    });
    const content = new Content(this.#db);
    await content.load(rows.map((row) => row.llmThinking));
    return rows.map((row) => content.text(row.llmThinking ?? "")).reverse();
  }

  #rows() {
    return this.#db.selectFrom("queryState as s")
      .innerJoin("querySoul as q", "q.id", "s.querySoulId")
      .innerJoin("conversationState as c", "c.id", "q.conversationStateId")
      .select(["s.id as queryId", "c.conversationSoulId as conversationId", "c.id as branchId"])
      .select(["q.query", "s.status", "s.metadata"])
      .select(["q.metadata as soulMetadata", "s.createdAt"]);
  }

  async #read(rows: readonly QueryRow[]): Promise<StoredQuery[]> {
    const content = new Content(this.#db);
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
      };
      const { status } = row;
      if (status === "running") return { ...known, running: true, status, reason: null };
      return { ...known, running: false, status, reason: facts.reason ?? "process_lost" };
    });
  }
}

/** The newest run of the last query of a branch, which another one may replace. */
async function lastRun(tx: Database, branchId: string, queryId: string): Promise<Run> {
  const last = await newestRun(tx, branchId);
  if (last?.id !== queryId) {
    throw new UsageError(`Cannot retry query ${queryId}: it is not the last one of its branch; fork before it`);
  }
  if (last.status === "running") throw new UsageError(`Cannot retry query ${queryId}: it is still running`);
  return last;
}

/** The query of a fork as the fork sees it: without what came after. */
function cutAt(query: StoredQuery, { position }: ForkPoint): StoredQuery {
  const iterations = position + 1;
  if (!query.running && iterations >= query.iterations) return query;
  const notes = [`Forked after iteration ${iterations}`];
  return { ...query, iterations, notes, running: false, status: "interrupted", reason: "cancelled", answer: "" };
}

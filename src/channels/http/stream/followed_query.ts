import { setTimeout as sleep } from "node:timers/promises";
import { resultOf, storedEvents } from "../../../conversation/stored_events.ts";
import { Cancelled } from "../../../domain/errors.ts";
import { isChild, isEnd } from "../../../domain/query/query_event.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import { Problem } from "../response/problem.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import type { FollowedEvent } from "./followed_event.ts";
import type { LiveRun } from "./run.ts";
import type { Runs } from "./runs.ts";

type Parts = Pick<HttpParts, "conversations" | "model" | "limits">;

/** A query as one client follows it, whichever process runs or ran it: the events of its run while they are kept,
 * otherwise its rows, as they are stored. */
export class FollowedQuery {
  readonly queryId: string;
  /** Null if this process does not run it, or no longer knows the run. */
  readonly run: LiveRun | null;
  readonly #stored: StoredQuery | null;
  readonly #parts: Parts;
  readonly #leaving = new AbortController();

  constructor(
    queryId: string,
    { run, stored, parts }: {
      readonly run: LiveRun | null;
      readonly stored: StoredQuery | null;
      readonly parts: Parts;
    },
  ) {
    this.queryId = queryId;
    this.run = run;
    this.#stored = stored;
    this.#parts = parts;
  }

  /** Throws `Problem` (404) if there is no such query. */
  static async find(
    queryId: string,
    { parts, runs }: { readonly parts: Parts; readonly runs: Runs },
  ): Promise<FollowedQuery> {
    const run = runs.byQuery(queryId);
    const stored = run ? null : await parts.conversations.records.query(queryId);
    if (run || stored) return new FollowedQuery(queryId, { run, stored, parts });
    throw new Problem(`Cannot find query: ${queryId.slice(0, 100)}`, { kind: "not-found" });
  }

  get running(): boolean {
    return this.run?.running ?? this.#stored?.running ?? false;
  }

  /** The branch that it belongs to. */
  async branchId(): Promise<string> {
    return this.#stored?.branchId ?? (await this.run?.begun)?.branchId ?? "";
  }

  /** Call it when the client leaves; the query goes on. */
  leave(): void {
    this.#leaving.abort();
  }

  /** Resolves once the query has ended. Rejects like its run, and if the client leaves before. */
  async result(): Promise<QueryResult> {
    if (this.run) return await this.run.ended;
    for await (const query of this.#states()) if (!query.running) return resultOf(query);
    throw new Cancelled("Cancelled");
  }

  /** The events after the last one that the client has, until the end or until it leaves. */
  async *events(lastId = ""): AsyncGenerator<FollowedEvent> {
    const { run } = this;
    const after = Number(/^\d{1,9}$/.exec(lastId)?.[0] ?? 0);
    if (run && after + 1 >= run.oldest && after <= run.newest) return yield* run.events(after);
    // Read before the rows, so that no event is missed between the two.
    const next = run?.oldest ?? 0;
    let seen = Number(/^r(\d{1,9})$/.exec(lastId)?.[1] ?? 0);
    for await (const query of this.#states()) {
      // Read after the query: a query that has ended has all of them.
      const iterations = await this.#parts.conversations.iterations(this.queryId);
      for (const [at, event] of storedEvents(query, { iterations, model: this.#parts.model }).entries()) {
        if (isEnd(event) && run?.running) break;
        if (at + 1 > seen) yield { id: `r${seen = at + 1}`, event, omitted: 0 };
        if (isEnd(event)) return;
      }
      const stored = iterations.filter(({ status }) => status !== "running").length;
      if (run) return yield* restOf(run, { after: next - 1, stored });
    }
  }

  /** The query now, and whenever it has another iteration; with its end the last time. */
  async *#states(): AsyncGenerator<StoredQuery> {
    const { signal } = this.#leaving;
    const { conversations, limits } = this.#parts;
    let iterations = -1;
    while (!signal.aborted) {
      const query = await conversations.records.query(this.queryId);
      if (!query) return;
      if (!query.running || query.iterations !== iterations) yield query;
      if (!query.running) return;
      iterations = query.iterations;
      await sleep(limits.lookMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** The run's events for iterations that no row covered. */
async function* restOf(
  run: LiveRun,
  { after, stored }: { readonly after: number; readonly stored: number },
): AsyncGenerator<FollowedEvent> {
  for await (const { id, event } of run.events(after)) {
    if (event.iteration !== null && event.iteration <= stored) continue;
    if (event.type === "started" && !isChild(event)) continue;
    yield { id, event, omitted: 0 };
  }
}

import { setTimeout as sleep } from "node:timers/promises";
import type { Conversations, SharedRun } from "../../conversation/conversations.ts";
import { UnseenEvents } from "../../conversation/step_events.ts";
import { resultOf, storedEvents } from "../../conversation/stored_events.ts";
import { Cancelled } from "../../domain/errors.ts";
import { outcomeOf } from "../../domain/query/outcomes.ts";
import { Emitter, isChild, isEnd, isOwnEnd, omittedBetween } from "../../domain/query/query_event.ts";
import type { PlanItem, QueryEvent, QueryResult } from "../../domain/query/query_schemas.ts";
import type { StoredApproval, StoredQuery } from "../../domain/query/stored_query.ts";
import type { HttpParts } from "./http_parts.ts";
import { Problem } from "./problem.ts";
import type { LiveRun, Runs } from "./live_runs.ts";

export const CONVERSATION_HEADER = "x-vis-conversation";

export interface FollowedEvent {
  /** An event of a run has its number as id, and an event of `storedEvents` has `r` and its position. In a step that
   * another process runs, the id is "", so that the client reads this step again after a lost connection. */
  readonly id: string;
  readonly event: QueryEvent;
  readonly omitted: number;
}

type Parts = Pick<HttpParts, "conversations" | "limits">;

interface Found {
  readonly queryId: string;
  readonly run: LiveRun | null;
  readonly shared: SharedRun | null;
  readonly stored: StoredQuery | null;
  readonly parts: Parts;
  readonly leaving: AbortController;
}

export class FollowedQuery {
  readonly #found: Found;

  constructor(found: Found) {
    this.#found = found;
  }

  static async find(
    queryId: string,
    { parts, runs }: { readonly parts: Parts; readonly runs: Runs },
  ): Promise<FollowedQuery> {
    const run = runs.byQuery(queryId);
    const leaving = new AbortController();
    const facts = { queryId, run, parts, leaving };
    if (run) return new FollowedQuery({ ...facts, shared: null, stored: null });
    const { records, shared: nodes } = parts.conversations;
    const [stored, shared = null] = await Promise.all([records.query(queryId), nodes?.follow(queryId, leaving.signal)]);
    if (stored || shared) return new FollowedQuery({ ...facts, shared, stored });
    throw new Problem(`Cannot find request ${queryId.slice(0, 100)}: no request has this id`, { kind: "not-found" });
  }

  get run(): LiveRun | null {
    return this.#found.run;
  }

  get running(): boolean {
    const { run, shared, stored } = this.#found;
    return (run ?? shared ?? stored)?.running ?? false;
  }

  async branchId(): Promise<string> {
    const { run, shared, stored } = this.#found;
    return (stored ?? shared ?? await run?.begun)?.branchId ?? "";
  }

  leave(): void {
    this.#found.leaving.abort();
  }

  async result(): Promise<QueryResult> {
    const { run, shared } = this.#found;
    if (run) return await run.ended;
    if (shared?.running) return await lastOf(shared);
    for await (const query of this.#looks()) if (!query.running) return resultOf(query);
    throw new Cancelled("Cancelled");
  }

  async *events(lastId = ""): AsyncGenerator<FollowedEvent> {
    const { queryId, parts: { conversations }, shared } = this.#found;
    const run = this.run ?? shared;
    const after = Number(/^\d{1,12}$/.exec(lastId)?.[0] ?? 0);
    if (run && after + 1 >= run.oldest && after <= run.newest) return yield* numbered(run, after);
    // Vis reads the number before the rows, so that no event between the two reads is missed.
    const next = run?.oldest ?? 0;
    const rows = new StoredRows(queryId, Number(/^r(\d{1,9})$/.exec(lastId)?.[1] ?? 0));
    const watched = run || !this.running ? null : await this.#watch();
    let shown = "";
    try {
      for await (const query of this.#looks()) {
        const state = stateOf(query);
        if (state !== shown) {
          // Vis reads the iterations after the query, because an ended query has all of its iterations.
          const iterations = await conversations.iterations(queryId);
          const plan = await watched?.lastPlan(query) ?? [];
          for (const followed of rows.newer(query, { iterations, plan })) {
            if (isEnd(followed.event) && run?.running) break;
            yield followed;
            if (isEnd(followed.event)) return;
          }
          if (run) return yield* restOf(run, { after: next - 1, stored: rows.ended });
          yield* rows.live(query, iterations);
        }
        shown = state;
        yield* rows.shared(await watched?.step.newest() ?? null);
      }
    } finally {
      await watched?.step.close();
    }
  }

  async #watch() {
    const { conversations } = this.#found.parts;
    const { elsewhere, records } = conversations;
    const branch = await conversations.byId(await this.branchId());
    return {
      step: elsewhere.watch(branch),
      /** The last step may have ended before its process shared the plan. */
      lastPlan: async ({ running, createdAt }: StoredQuery): Promise<readonly PlanItem[]> => {
        const plan = running ? null : await records.plan(branch);
        return plan !== null && plan.at >= createdAt ? plan.items : [];
      },
    };
  }

  async *#looks(): AsyncGenerator<StoredQuery> {
    const { queryId, parts: { conversations, limits }, leaving: { signal } } = this.#found;
    while (!signal.aborted) {
      const query = await conversations.records.query(queryId);
      if (!query) return;
      yield query;
      if (!query.running) return;
      await sleep(limits.lookMs, undefined, { signal }).catch(() => {});
    }
  }
}

function stateOf(query: StoredQuery): string {
  if (!query.running) return "ended";
  const { iterations, usage: { calls }, approval, waiting } = query;
  return JSON.stringify([iterations, calls, approval?.question.id, approval?.answer, waiting]);
}

type StoredIteration = Awaited<ReturnType<Conversations["iterations"]>>[number];

class StoredRows {
  readonly #queryId: string;
  readonly #unseen = new UnseenEvents();
  readonly #live: StoredLive;
  #seen: number;
  #held: readonly QueryEvent[] | null = null;
  /** The client has a part of the step after the rows, so it cannot continue from the number of a row. */
  #isWithin = false;
  ended = 0;

  constructor(queryId: string, seen: number) {
    this.#queryId = queryId;
    this.#seen = seen;
    this.#live = new StoredLive(queryId);
  }

  *newer(
    query: StoredQuery,
    { iterations, plan }: { readonly iterations: readonly StoredIteration[]; readonly plan: readonly PlanItem[] },
  ): Generator<FollowedEvent> {
    this.ended = (iterations.findLast(({ status }) => status !== "running")?.position ?? -1) + 1;
    const rows = storedEvents(query, iterations).slice(this.#seen);
    for (const event of this.#unseen.of(rows)) {
      this.#seen++;
      if (event === null) continue;
      if (isEnd(event)) yield* this.#told(this.#live.plan(plan));
      if (event.type === "iteration_finished" || isEnd(event)) this.#isWithin = false;
      yield this.#followed(event);
    }
  }

  *live(query: StoredQuery, iterations: readonly StoredIteration[]): Generator<FollowedEvent> {
    yield* this.#told(this.#live.of(query, iterations));
  }

  *shared(newest: readonly QueryEvent[] | null): Generator<FollowedEvent> {
    const events = newest ?? this.#held;
    this.#held = null;
    const own = events?.filter((event) => !isChild(event)) ?? [];
    const step = Math.max(0, ...own.map(({ iteration }) => iteration ?? 0));
    if (events === null || step <= this.ended || own.some(({ queryId }) => queryId !== this.#queryId)) return;
    if (step > this.ended + 1) return void (this.#held = events);
    const isOfRows = (event: QueryEvent): boolean =>
      !isChild(event) && (event.type === "started" || event.type === "iteration_finished");
    for (const event of this.#unseen.of(events.filter((event) => !isOfRows(event)))) {
      if (event === null) continue;
      this.#isWithin = true;
      yield this.#followed(event);
    }
  }

  *#told(events: readonly QueryEvent[]): Generator<FollowedEvent> {
    for (const event of this.#unseen.of(events)) if (event !== null) yield this.#followed(event);
  }

  #followed(event: QueryEvent): FollowedEvent {
    return { id: this.#isWithin ? "" : `r${this.#seen}`, event, omitted: 0 };
  }
}

class StoredLive {
  readonly #emitter: Emitter;
  #events: QueryEvent[] = [];
  #asked = "";
  #steering = "[]";
  #begun = "";
  #number = 0;

  constructor(queryId: string) {
    this.#emitter = new Emitter((event) => this.#events.push(event), { queryId, now: Date.now });
  }

  of(query: StoredQuery, iterations: readonly StoredIteration[]): readonly QueryEvent[] {
    this.#events = [];
    if (!query.running) return [];
    const steering = JSON.stringify(query.waiting);
    if (steering !== this.#steering) this.#emitter.send({ type: "steering", texts: query.waiting });
    this.#steering = steering;
    this.#showRunning(iterations);
    if (query.approval) this.#ask(query.approval);
    return this.#events;
  }

  plan(items: readonly PlanItem[]): readonly QueryEvent[] {
    this.#events = [];
    if (items.length > 0) this.#emitter.send({ type: "plan", items });
    return this.#events;
  }

  #showRunning(iterations: readonly StoredIteration[]): void {
    const last = iterations.at(-1);
    if (last === undefined || outcomeOf(last.metadata) === "final") return;
    const runs = last.status === "running";
    const number = last.position + (runs ? 1 : 2);
    const budget = last.metadata["budget"];
    this.#emitter.iteration = number;
    if (number > this.#number && typeof budget === "number") {
      this.#emitter.send({ type: "iteration_started", used: Math.min(number, budget), budget });
    }
    this.#number = number;
    if (runs && this.#begun !== last.iterationId) {
      this.#begun = last.iterationId;
      const pending = last.metadata["pendingBlocks"];
      for (const [block, code] of (Array.isArray(pending) ? pending : []).entries()) {
        this.#emitter.send({ type: "block_started", block, code: String(code) });
      }
    }
    this.#emitter.iteration = null;
  }

  #ask({ question, answer }: StoredApproval): void {
    if (answer === null && this.#asked !== question.id) {
      this.#emitter.send({ type: "approval_requested", ...question });
      this.#asked = question.id;
    } else if (answer !== null && this.#asked === question.id) {
      this.#emitter.send({ type: "approval_answered", id: question.id, ...answer });
      this.#asked = "";
    }
  }
}

async function lastOf(run: SharedRun): Promise<QueryResult> {
  for await (const { event } of run.events(run.newest)) if (isOwnEnd(event)) return event.result;
  throw new Cancelled("Cancelled");
}

async function* numbered(run: Pick<SharedRun, "events">, after: number): AsyncGenerator<FollowedEvent> {
  let last = after;
  for await (const { number, event } of run.events(after)) {
    yield { id: String(number), event, omitted: omittedBetween(last, number) };
    last = number;
  }
}

async function* restOf(
  run: Pick<SharedRun, "events">,
  { after, stored }: { readonly after: number; readonly stored: number },
): AsyncGenerator<FollowedEvent> {
  for await (const { number, event } of run.events(after)) {
    if (event.iteration !== null && event.iteration <= stored) continue;
    if (event.type === "started" && !isChild(event)) continue;
    yield { id: String(number), event, omitted: 0 };
  }
}

export const EVENT_STREAM_TYPE = "text/event-stream; charset=utf-8";

export function eventStream(
  texts: AsyncGenerator<string>,
  { heartbeatMs, left, headers = {} }: {
    readonly heartbeatMs: number;
    readonly left?: () => void;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Response {
  const body = textStream(texts, { heartbeatMs, alive: ": alive\n\n", left });
  return new Response(body, {
    headers: {
      "content-type": EVENT_STREAM_TYPE,
      "cache-control": "no-store",
      "x-accel-buffering": "no", // With this header, nginx does not buffer events.
      ...headers,
    },
  });
}

/** JSON has no raw line breaks, so text in an event cannot begin another event. */
export async function* eventTexts(events: AsyncIterable<FollowedEvent>): AsyncGenerator<string> {
  for await (const { id, event, omitted } of events) {
    if (omitted > 0) yield `: ${omitted} events were omitted\n\n`;
    yield `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  }
}

/** Reads `texts` only as fast as the client reads. Sends `alive` every `heartbeatMs` while the client waits. When the
 * client leaves, calls `left` and ends `texts`. */
export function textStream(
  texts: AsyncGenerator<string>,
  { heartbeatMs, alive, left }: {
    readonly heartbeatMs: number;
    readonly alive: string;
    readonly left?: (() => void) | undefined;
  },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let beat: ReturnType<typeof setInterval> | undefined;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      beat ??= setInterval(() => {
        if (controller.desiredSize === 0) controller.enqueue(encoder.encode(alive));
      }, heartbeatMs);
      const step = await texts.next().catch((error: unknown) => {
        clearInterval(beat);
        throw error;
      });
      if (!step.done) return controller.enqueue(encoder.encode(step.value));
      clearInterval(beat);
      controller.close();
    },
    cancel() {
      clearInterval(beat);
      left?.();
      void texts.return(undefined).catch(() => {});
    },
  }, { highWaterMark: 0 });
}

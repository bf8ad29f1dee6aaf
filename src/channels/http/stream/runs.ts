import type { SharedQueries } from "../../../conversation/shared_queries.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "../../../domain/query/approval.ts";
import type { QueryEvent } from "../../../domain/query/query_schemas.ts";
import type { Quotas, TokenUse } from "../auth/quotas.ts";
import type { TokenGrant } from "../auth/token_grant.ts";
import { Problem } from "../response/problem.ts";
import type { Leaving } from "../routing/connections.ts";
import { type Ask, type Begun, LiveRun } from "./run.ts";

/** Ended runs that clients can still resume. */
const KEPT_RUNS = 100;

type OnEvent = (caller: TokenGrant, event: QueryEvent) => void;

/** The queries that this process runs, and the most recent ones that it ran. */
export class Runs {
  readonly #byQuery = new Map<string, LiveRun>();
  readonly #running = new Map<LiveRun, TokenGrant>();
  readonly #quotas: Quotas;
  readonly #shared: SharedQueries | null;
  readonly #onEvent: OnEvent;
  #closing = false;

  /** `shared` has the queries of all nodes, if there are several; `onEvent` receives every event of every run with its
   * token, before those who follow it. */
  constructor(
    quotas: Quotas,
    { shared, onEvent }: { readonly shared: SharedQueries | null; readonly onEvent: OnEvent },
  ) {
    this.#quotas = quotas;
    this.#shared = shared;
    this.#onEvent = onEvent;
  }

  get closing(): boolean {
    return this.#closing;
  }

  /** The number of running queries that a caller may know of. */
  running({ tenant, all }: Pick<TokenGrant, "tenant" | "all">): number {
    return [...this.#running.values()].filter((by) => all || by.tenant === tenant).length;
  }

  /** What a token has used today. */
  used(caller: Pick<TokenGrant, "name">): TokenUse {
    return this.#quotas.used(caller);
  }

  /** Begins a run, charged to the caller's quota, and waits for its first event; `leaving` cancels it. Rejects like
   * `Conversations.ask` if nothing was begun, and with `Problem` if the caller's quota is used up (429) or the server
   * shuts down (503). */
  async begin(
    ask: Ask,
    { caller, leaving = null }: { readonly caller: TokenGrant; readonly leaving?: Leaving | null },
  ): Promise<Begun> {
    if (this.#closing) throw new Problem("Cannot start a query: the server is shutting down", { kind: "unavailable" });
    const lease = this.#quotas.begin(caller);
    const run = new LiveRun(ask, (event) => this.#onEvent(caller, event));
    this.#running.set(run, caller);
    const stay = leaving?.(() => run.cancel());
    const gone = (): void => {
      stay?.();
      this.#running.delete(run);
    };
    const begun = await run.begun.catch((error: unknown) => {
      gone();
      lease.undo();
      throw error;
    });
    run.ended.catch(() => null).then((result) => {
      gone();
      lease.end(result);
    });
    for (const before of this.#byQuery.values()) before.rest();
    this.#byQuery.set(begun.queryId, run);
    this.#forget();
    return begun;
  }

  byQuery(queryId: string): LiveRun | null {
    return this.#byQuery.get(queryId) ?? null;
  }

  /** Cancels what runs or waits in a conversation. Returns how many queries. */
  async cancel(conversationId: string): Promise<number> {
    if (this.#shared) return await this.#shared.cancel(conversationId);
    const found = this.#of(conversationId);
    for (const run of found) run.cancel();
    return found.length;
  }

  /** The questions of a conversation that wait for an answer. */
  async questions(conversationId: string): Promise<readonly ApprovalQuestion[]> {
    if (this.#shared) return await this.#shared.questions(conversationId);
    return this.#of(conversationId).flatMap(({ questions }) => questions.all);
  }

  /** False if no such question waits. */
  async answer(conversationId: string, id: string, given: ApprovalAnswer): Promise<boolean> {
    if (this.#shared) return await this.#shared.answer(conversationId, id, given);
    return this.#of(conversationId).some(({ questions }) => questions.answer(id, given));
  }

  /** Begins no more runs, gives running ones this long, then cancels them; resolves when all have ended. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const timer = setTimeout(() => this.#running.forEach((_, run) => run.cancel()), graceMs);
    try {
      while (this.#running.size > 0) await Promise.allSettled([...this.#running.keys()].map(({ ended }) => ended));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs of a conversation that have not ended, including waiting ones. */
  #of(conversationId: string): readonly LiveRun[] {
    return [...this.#running.keys()].filter((run) => run.conversationId === conversationId);
  }

  #forget(): void {
    for (const [queryId, run] of this.#byQuery) {
      if (this.#byQuery.size <= KEPT_RUNS) return;
      if (!run.running) this.#byQuery.delete(queryId);
    }
  }
}

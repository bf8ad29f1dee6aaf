import type { Conversation, Conversations, SharedQueries } from "../../conversation/conversations.ts";
import { type AskOptions, WaitingQuestions } from "../../conversation/ask_options.ts";
import { SHUTDOWN } from "../../domain/errors.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approve } from "../../domain/query/approval.ts";
import type { Emit } from "../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../domain/query/query_schemas.ts";
import type { Leaving } from "./connections.ts";
import { Problem } from "./problem.ts";
import type { Quotas, TokenGrant, TokenUse } from "./tokens.ts";

const KEPT_RUNS = 100;

type OnEvent = (caller: TokenGrant, event: QueryEvent) => void;

export class Runs {
  readonly #byQuery = new Map<string, LiveRun>();
  readonly #running = new Map<LiveRun, TokenGrant>();
  readonly #quotas: Quotas;
  readonly #shared: SharedQueries | null;
  readonly #elsewhere: Conversations["elsewhere"];
  readonly #onEvent: OnEvent;
  #closing = false;

  constructor(
    quotas: Quotas,
    { shared, elsewhere, onEvent }: Pick<Conversations, "shared" | "elsewhere"> & { readonly onEvent: OnEvent },
  ) {
    this.#quotas = quotas;
    this.#shared = shared;
    this.#elsewhere = elsewhere;
    this.#onEvent = onEvent;
  }

  get closing(): boolean {
    return this.#closing;
  }

  running({ tenant, all }: Pick<TokenGrant, "tenant" | "all">): number {
    return [...this.#running.values()].filter((by) => all || by.tenant === tenant).length;
  }

  used(caller: Pick<TokenGrant, "name">): TokenUse {
    return this.#quotas.used(caller);
  }

  /** Resolves at the first event. Rejects like `ask`, and with `Problem` for a used-up quota (429) or a closing server
   * (503). */
  async begin(
    ask: Ask,
    { caller, leaving = null }: { readonly caller: TokenGrant; readonly leaving?: Leaving | null },
  ): Promise<Begun> {
    if (this.#closing) {
      throw new Problem("Cannot start the request: the server is shutting down; try again later", {
        kind: "unavailable",
      });
    }
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

  async runsIn(conversationId: string): Promise<boolean> {
    return await this.#shared?.isBusy(conversationId) ?? this.#of(conversationId).length > 0;
  }

  /** Resolves once the queries of this process in the branch no longer count as running queries of their tokens. */
  async ended(branchId: string): Promise<void> {
    for (;;) {
      const runs = [...this.#running.keys()].filter((run) => run.branchId === branchId);
      if (runs.length === 0) return;
      await Promise.allSettled(runs.map(({ ended }) => ended));
    }
  }

  async cancel(conversationId: string): Promise<number> {
    // A process that is no node, such as `vis run`, can also run a query in a shared database.
    if (this.#shared) {
      return await this.#shared.cancel(conversationId) || await this.#elsewhere.cancel(conversationId);
    }
    const own = this.#of(conversationId);
    for (const run of own) run.cancel();
    return own.length + await this.#elsewhere.cancel(conversationId, branchesOf(own));
  }

  async questions(conversationId: string): Promise<readonly ApprovalQuestion[]> {
    if (this.#shared) {
      const found = await this.#shared.questions(conversationId);
      return found.length > 0 ? found : await this.#elsewhere.questions(conversationId);
    }
    const own = this.#of(conversationId);
    const others = await this.#elsewhere.questions(conversationId, branchesOf(own));
    return [...own.flatMap(({ questions }) => questions.all), ...others];
  }

  async answer(conversationId: string, id: string, given: ApprovalAnswer): Promise<boolean> {
    if (this.#shared && await this.#shared.answer(conversationId, id, given)) return true;
    const answered = this.#of(conversationId).some(({ questions }) => questions.answer(id, given));
    return answered || await this.#elsewhere.answer(conversationId, id, given);
  }

  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    const timer = setTimeout(() => this.#running.forEach((_, run) => run.cancel(SHUTDOWN)), graceMs);
    try {
      while (this.#running.size > 0) await Promise.allSettled([...this.#running.keys()].map(({ ended }) => ended));
    } finally {
      clearTimeout(timer);
    }
  }

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

function branchesOf(runs: readonly LiveRun[]): ReadonlySet<string> {
  return new Set(runs.flatMap(({ branchId }) => branchId ?? []));
}

const KEPT_EVENTS = 1000;
const KEPT_CHARS = 500_000;
const KEPT_AFTER_CHARS = 200_000;

type Ask = (
  options: Required<Pick<AskOptions, "signal" | "emit" | "onBranch">>,
  approve: Approve,
) => Promise<QueryResult>;

export interface Begun {
  readonly queryId: string;
  readonly branchId: string;
}

interface Numbered {
  readonly number: number;
  readonly event: QueryEvent;
}

export class LiveRun {
  readonly questions = new WaitingQuestions();
  readonly #kept: Numbered[] = [];
  readonly #controller = new AbortController();
  readonly #begun = Promise.withResolvers<Begun>();
  #branch: Conversation | null = null;
  #newest = 0;
  #chars = 0;
  #over = false;
  #change = Promise.withResolvers<void>();
  readonly ended: Promise<QueryResult>;

  constructor(ask: Ask, onEvent: Emit = () => {}) {
    const onBranch = (branch: Conversation): void => void (this.#branch = branch);
    const emit: Emit = (event, number = this.#newest + 1) => {
      onEvent(event);
      this.#add(event, number);
    };
    this.ended = ask({ signal: this.#controller.signal, emit, onBranch }, this.questions.approve);
    this.ended.then(() => this.#end(), (error: unknown) => {
      this.#begun.reject(error);
      this.#end();
    });
    this.#begun.promise.catch(() => {});
  }

  get begun(): Promise<Begun> {
    return this.#begun.promise;
  }

  get conversationId(): string | null {
    return this.#branch?.conversationId ?? null;
  }

  get branchId(): string | null {
    return this.#branch?.branchId ?? null;
  }

  get running(): boolean {
    return !this.#over;
  }

  get oldest(): number {
    return this.#kept[0]?.number ?? this.#newest + 1;
  }

  get newest(): number {
    return this.#newest;
  }

  cancel(reason?: typeof SHUTDOWN): void {
    this.#controller.abort(reason);
  }

  rest(): void {
    if (this.#over) this.#trim(KEPT_AFTER_CHARS);
  }

  async *events(after = 0): AsyncGenerator<Numbered> {
    for (let last = after;;) {
      const found = this.#after(last);
      if (found) {
        yield found;
        last = found.number;
      } else if (this.#over) return;
      else await this.#change.promise;
    }
  }

  #after(last: number): Numbered | undefined {
    if (last >= this.#newest) return undefined;
    const next = this.#kept[Math.max(0, last + 1 - this.oldest)];
    if (next?.number === last + 1) return next;
    return this.#kept.find(({ number }) => number > last);
  }

  #add(event: QueryEvent, number: number): void {
    const isFirst = this.#newest === 0;
    this.#newest = number;
    const last = this.#kept.at(-1);
    // An output of a command replaces the output right before it, so that a long command displaces no other events.
    if (event.type === "call_output" && last?.event.type === "call_output") this.#kept.pop();
    this.#kept.push({ number, event });
    this.#chars += charsOf(event);
    this.#trim(KEPT_CHARS);
    if (isFirst) this.#begun.resolve({ queryId: event.queryId, branchId: this.#branch?.branchId ?? "" });
    this.#wake();
  }

  #trim(chars: number): void {
    while (this.#kept.length > 1 && (this.#kept.length > KEPT_EVENTS || this.#chars > chars)) {
      const gone = this.#kept.shift();
      if (gone) this.#chars -= charsOf(gone.event);
    }
  }

  #end(): void {
    this.#over = true;
    this.#wake();
  }

  #wake(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}

function charsOf(event: QueryEvent): number {
  if ("delta" in event) return event.delta.length;
  return "code" in event ? event.code.length : 0;
}

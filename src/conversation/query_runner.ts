import { HandedOver, TakenOverError } from "../domain/errors.ts";
import type { Emit } from "../domain/query/query_event.ts";
import type { QueryResult } from "../domain/query/query_schemas.ts";
import type { EnvironmentParts } from "../environment/environment_parts.ts";
import { Environment } from "../environment/environment.ts";
import type { InputVariable } from "../environment/input_variables.ts";
import type { Branch, PreviousTurn, Store } from "../persistence/store.ts";
import type { RequestExtras } from "../prompt/prompt.ts";
import { type QueryParts, Steering } from "../query/query_parts.ts";
import { endUnrun, type QueryLeft, runQuery, storeQuery } from "../query/run_query.ts";
import { ChildPool, type ChildPoolOptions } from "./child_pool.ts";
import { LiveEnvironments } from "./live_environments.ts";
import { allInputVariables, type AskOptions, requestSettings } from "./send_options.ts";

const CHILDREN = { live: 32, idleMs: 600_000 } as const;
const KEPT_ENVIRONMENTS = 256;

/** What queries are run with. */
export type RunnerParts =
  & Omit<EnvironmentParts, "branch">
  & Omit<QueryParts, "environment" | "store" | "log" | "now" | "steering" | "between">
  & {
    /** Wraps every query once it has its branch, and may listen to its events. What it passes as `between` is asked
     * before each model call. */
    readonly around?: (
      emit: Emit,
      run: (emit: Emit, between?: QueryParts["between"]) => Promise<QueryResult>,
    ) => Promise<QueryResult>;
    /** Limits for idle children: their number and their lifetime. */
    readonly children?: Partial<Omit<ChildPoolOptions, "onError">>;
  };

export interface RunnerOptions extends AskOptions {
  readonly extras: RequestExtras;
  /** Variables of the request that have already been read. */
  readonly read?: readonly InputVariable[] | undefined;
  readonly retryOf?: string | undefined;
  /** The id under which the request was accepted; a new one if omitted. */
  readonly queryId?: string;
  /** Where the query continues if another process began it; `queryId` is its id. */
  readonly left?: QueryLeft;
  /** Once it aborts, the query is left to another process before its next iteration: rejects with `HandedOver`. */
  readonly leaving?: AbortSignal;
}

interface BranchRun {
  readonly branch: Branch;
  readonly options: RunnerOptions;
}

/** Runs queries in this process, one at a time in each branch. Owns their environments; `closeAll` ends them. */
export class QueryRunner {
  readonly #parts: RunnerParts;
  readonly #live: LiveEnvironments<Environment, Branch>;
  /** The running queries, by branch. */
  readonly #running = new Map<string, { readonly steering: Steering; readonly ended: Promise<void>; cancel(): void }>();
  readonly #children: ChildPool;
  readonly #leases: LeaseKeeper;

  constructor(parts: RunnerParts) {
    this.#parts = {
      ...parts,
      openSandbox: (options) => this.#children.start(() => parts.openSandbox(options)),
      mayStartEarly: () => this.#children.hasRoom,
    };
    const onError = (error: unknown): void => parts.log.warn("sandbox_not_stopped", { error: String(error) });
    this.#children = new ChildPool({ ...CHILDREN, ...parts.children, onError });
    this.#live = new LiveEnvironments({
      open: (branch) => Environment.open({ ...this.#parts, store: this.storeOf(branch), branch }),
      kept: KEPT_ENVIRONMENTS,
      onClose: (branchId) => this.#children.forget(branchId),
    });
    this.#leases = new LeaseKeeper(() => parts.store.renewLeases(parts.owner));
  }

  /** The store of a tenant: what runs in its conversations sees nothing else, whoever began it. */
  storeOf({ tenant }: Pick<Branch, "tenant">): Store {
    const { store } = this.#parts;
    return tenant === store.tenant ? store : store.of(tenant);
  }

  isBusy(branchId: string): boolean {
    return this.#live.isBusy(branchId);
  }

  /** Takes the lock of the branch before awaiting anything. */
  async run(request: string, { branch, options }: BranchRun): Promise<QueryResult> {
    const run = (emit: Emit, between?: QueryParts["between"]) =>
      this.#run(request, { branch, options: { ...options, emit }, ...(between ? { between } : {}) });
    const { around } = this.#parts;
    const whenFree = (): Promise<QueryResult> => around ? around(options.emit, run) : run(options.emit);
    // The end of a query that begins at once or continues is stored, also if it is cancelled already.
    const signal = options.left || !this.isBusy(branch.branchId) ? undefined : options.signal;
    return await this.#live.lockOf(branch).run(whenFree, signal);
  }

  /** Whether a query runs here in the branch. */
  runs(branchId: string): boolean {
    return this.#running.has(branchId);
  }

  /** Like `Conversations.steer`, for a query that runs here. */
  async steer(branchId: string, text: string, signal?: AbortSignal): Promise<boolean> {
    return await this.#running.get(branchId)?.steering.add(text, signal) ?? false;
  }

  async #run(
    request: string,
    { branch, options, between }: BranchRun & Pick<QueryParts, "between">,
  ): Promise<QueryResult> {
    const { branchId } = branch;
    const { left } = options;
    const settings = requestSettings(this.#parts.settings, options);
    const known = { ...this.#parts, store: this.storeOf(branch), settings };
    const input = options.read ?? await allInputVariables(options, known.store);
    const queryId = left && options.queryId
      ? options.queryId
      : await storeQuery(request, known, { ...options, branchId });
    const steering = new Steering();
    const cancelling = new AbortController();
    const signal = AbortSignal.any([options.signal, cancelling.signal]);
    const cancel = (): void => cancelling.abort();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    this.#running.set(branchId, { steering, ended, cancel });
    this.#leases.begin(branchId, cancel);
    try {
      const { environment, before } = await this.#environmentFor(queryId, { branch, input, options });
      this.#children.forget(branchId);
      try {
        const parts = { ...known, environment, steering, ...(between ? { between } : {}) };
        return await runQuery(request, parts, { ...options, signal, begun: queryId, before });
      } finally {
        this.#children.rest(branchId, environment);
      }
    } catch (error) {
      if (error instanceof HandedOver || error instanceof TakenOverError) this.#live.outdate(branchId);
      throw error;
    } finally {
      this.#leases.end(branchId);
      this.#running.delete(branchId);
      steering.end();
      this.#live.trim();
      resolve();
    }
  }

  /** For a query that is stored as running: from then on no other process changes the branch. */
  async #environmentFor(
    queryId: string,
    { branch, input, options: { left, retryOf } }: BranchRun & { readonly input: readonly InputVariable[] },
  ): Promise<{ readonly environment: Environment; readonly before: PreviousTurn | null }> {
    const store = this.storeOf(branch);
    try {
      const before = await store.previousTurn(branch.branchId, queryId);
      const reopen = retryOf !== undefined || left !== undefined;
      const environment = await this.#live.use(branch, { run: queryId, after: before?.queryId ?? null, reopen });
      // Those of a query that continues are stored with its first iteration.
      if (left && left.iterations.length > 0) environment.given.describe(input);
      else if (input.length > 0) await environment.give(input);
      return { environment, before };
    } catch (error) {
      if (!left) await endUnrun(store, queryId).catch(() => {});
      throw error;
    }
  }

  /** Cancels a running query and stores its end before closing its environment. */
  async close(branchId: string): Promise<void> {
    const running = this.#running.get(branchId);
    running?.cancel();
    await running?.ended;
    await this.#live.close(branchId);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((branchId) => this.close(branchId)));
    await this.#live.closeAll();
  }
}

const EVERY_MS = 30_000;

/** Renews the leases of this process while queries run, and notifies queries whose lease another process has taken
 * over. */
export class LeaseKeeper {
  readonly #renew: () => Promise<readonly string[]>;
  readonly #everyMs: number;
  /** By branch: called when its lease is gone. */
  readonly #running = new Map<string, () => void>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `renew` returns the branches that this process holds. If it rejects, it is tried again later. */
  constructor(
    renew: () => Promise<readonly string[]>,
    { everyMs = EVERY_MS }: { readonly everyMs?: number } = {},
  ) {
    this.#renew = renew;
    this.#everyMs = everyMs;
  }

  /** A query runs on a branch that this process holds. */
  begin(branchId: string, lost: () => void): void {
    this.#running.set(branchId, lost);
    this.#timer ??= setInterval(() => void this.#beat().catch(() => {}), this.#everyMs);
  }

  end(branchId: string): void {
    this.#running.delete(branchId);
    if (this.#running.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  async #beat(): Promise<void> {
    // Only those of now: queries that begin meanwhile are not checked.
    const watched = [...this.#running];
    const held = new Set(await this.#renew());
    for (const [branchId, lost] of watched) if (!held.has(branchId)) lost();
  }
}

import { HandedOver, TakenOverError } from "../domain/errors.ts";
import { Semaphore, unrefTimer } from "../domain/kit/concurrency.ts";
import type { Emit } from "../domain/query/query_event.ts";
import type { BackgroundProgram } from "../domain/admin_reports.ts";
import type { QueryEvent, QueryResult } from "../domain/query/query_schemas.ts";
import type { EnvironmentParts } from "../environment/environment_parts.ts";
import { Environment } from "../environment/environment.ts";
import type { InputVariable } from "../environment/input_variables.ts";
import type { Branch, PreviousTurn, Store } from "../persistence/store.ts";
import type { RequestExtras } from "../prompt/prompt.ts";
import type { QueryParts } from "../query/query_settings.ts";
import { Steering } from "../query/steering.ts";
import { readingModeOf } from "../prompt/prompt.ts";
import { endUnrun, type QueryLeft, runQuery, storeQuery } from "../query/run_query.ts";
import { askedEverywhere, RunMessages } from "./other_processes.ts";
import { allInputVariables, type AskOptions, requestSettings, WaitingQuestions } from "./ask_options.ts";
import { StepEvents } from "./step_events.ts";
import { type ChangesReader, withReviewedChanges } from "./reviewed_changes.ts";

const CHILDREN = { live: 32, idleMs: 600_000 } as const;
const KEPT_ENVIRONMENTS = 256;

export type RunnerParts =
  & ChangesReader
  & Omit<EnvironmentParts, "branch">
  & Omit<QueryParts, "environment" | "store" | "log" | "now" | "steering" | "between">
  & {
    readonly around?: (
      branch: Pick<Branch, "workspace">,
      emit: Emit,
      run: (emit: Emit, between?: QueryParts["between"]) => Promise<QueryResult>,
      watchHook: Environment["watchHook"],
    ) => Promise<QueryResult>;
    readonly children?: Partial<Omit<ChildPoolOptions, "onError">>;
  };

export interface RunnerOptions extends AskOptions {
  readonly extras: RequestExtras;
  readonly read?: readonly InputVariable[] | undefined;
  readonly retryOf?: string | undefined;
  readonly keptFiles?: readonly string[] | undefined;
  readonly queryId?: string;
  readonly left?: QueryLeft;
  /** When this signal aborts, the run rejects with `HandedOver` before its next iteration. */
  readonly leaving?: AbortSignal;
}

export class QueryRunner {
  readonly #parts: RunnerParts;
  readonly #live: LiveEnvironments<Environment, Branch>;
  readonly #running = new Map<string, { readonly steering: Steering; readonly ended: Promise<void>; cancel(): void }>();
  readonly #children: ChildPool;
  readonly #leases: LeaseKeeper;
  readonly #messages: RunMessages;

  constructor(parts: RunnerParts) {
    this.#parts = {
      ...parts,
      openSandbox: (options) => this.#children.start(() => parts.openSandbox(options)),
      mayStartEarly: () => this.#children.hasRoom && (parts.mayStartEarly?.() ?? true),
    };
    const onError = (error: unknown): void => parts.log.warn("sandbox_not_stopped", { error: String(error) });
    this.#children = new ChildPool({ ...CHILDREN, ...parts.children, onError });
    this.#live = new LiveEnvironments({
      open: (branch) => Environment.open({ ...this.#parts, store: this.storeOf(branch), branch }),
      kept: KEPT_ENVIRONMENTS,
      onClose: (branchId) => this.#children.forget(branchId),
    });
    this.#leases = new LeaseKeeper(() => parts.store.renewLeases(parts.owner));
    this.#messages = new RunMessages(parts);
  }

  /** Code in a conversation must reach no other tenant, so the code gets the store of its own tenant. */
  storeOf({ tenant }: Pick<Branch, "tenant">): Store {
    const { store } = this.#parts;
    return tenant === store.tenant ? store : store.of(tenant);
  }

  isBusy(branchId: string): boolean {
    return this.#live.isBusy(branchId);
  }

  /** Takes the lock of the branch before the first await, so that requests run in the order of the calls. */
  async run(branch: Branch, request: string, options: RunnerOptions): Promise<QueryResult> {
    const run = (emit: Emit, between?: QueryParts["between"]) =>
      this.#run(branch, request, { ...options, emit }, between);
    const { around } = this.#parts;
    const watchHook: Environment["watchHook"] = (queryId) =>
      this.#live.opened(branch.branchId)[0]?.watchHook(queryId) ?? null;
    const whenFree = (): Promise<QueryResult> =>
      around ? around(branch, options.emit, run, watchHook) : run(options.emit);
    // A query that can begin at once, or that continues, is stored with its end, even if the user has already
    // cancelled.
    const signal = options.left || !this.isBusy(branch.branchId) ? undefined : options.signal;
    return await this.#live.lockOf(branch).run(whenFree, signal);
  }

  runs(branchId: string): boolean {
    return this.#running.has(branchId);
  }

  programs(branchId: string | null): readonly BackgroundProgram[] {
    return this.#live.opened(branchId).flatMap(({ programs }) => programs.background);
  }

  async steer(branchId: string, text: string, signal?: AbortSignal): Promise<boolean> {
    return await this.#running.get(branchId)?.steering.add(text, signal) ?? false;
  }

  async #run(
    branch: Branch,
    request: string,
    options: RunnerOptions,
    between: QueryParts["between"],
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
    const questions = new WaitingQuestions();
    const steer = (text: string, withdrawn: AbortSignal): Promise<boolean> => steering.add(text, withdrawn);
    const step = new StepEvents();
    const programs = () => this.programs(branchId);
    this.#messages.begin(branchId, { store: known.store, step, questions, programs, steer, cancel });
    const emit: Emit = (event, number) => {
      step.add(event);
      options.emit(event, number);
    };
    const approve = options.approve && askedEverywhere(options.approve, questions);
    try {
      const isReview = !left && readingModeOf(settings) === "review";
      const given = isReview
        ? await withReviewedChanges(input, { ...known, request, workspace: branch.workspace, signal })
        : input;
      const { environment, before } = await this.#environmentFor(branch, { queryId, request, input: given }, options);
      this.#children.forget(branchId);
      try {
        const parts = { ...known, environment, steering, ...(between ? { between } : {}) };
        const shown = { emit, onOutput: (event: QueryEvent) => step.add(event) };
        return await runQuery(request, parts, { ...options, ...shown, approve, signal, begun: queryId, before });
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
      await this.#messages.end(branchId);
      this.#live.trim();
      resolve();
    }
  }

  /** The caller must have stored the query as running, so that no other process changes the branch. */
  async #environmentFor(
    branch: Branch,
    { queryId, request, input }: {
      readonly queryId: string;
      readonly request: string;
      readonly input: readonly InputVariable[];
    },
    { left, retryOf }: RunnerOptions,
  ): Promise<{ readonly environment: Environment; readonly before: PreviousTurn | null }> {
    const store = this.storeOf(branch);
    try {
      const before = await store.previousTurn(branch.branchId, queryId);
      const reopen = retryOf !== undefined || left !== undefined;
      const environment = await this.#live.use(branch, { run: queryId, after: before?.queryId ?? null, reopen });
      if (left && left.iterations.length > 0) environment.given.describe(input);
      else await environment.begin(request, input);
      return { environment, before };
    } catch (error) {
      if (!left) await endUnrun(store, queryId).catch(() => {});
      throw error;
    }
  }

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

export class LeaseKeeper {
  readonly #renew: () => Promise<readonly string[]>;
  readonly #everyMs: number;
  readonly #running = new Map<string, () => void>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `renew` resolves with the branches that this process still holds. */
  constructor(
    renew: () => Promise<readonly string[]>,
    { everyMs = EVERY_MS }: { readonly everyMs?: number } = {},
  ) {
    this.#renew = renew;
    this.#everyMs = everyMs;
  }

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
    // The renewal does not cover queries that begin meanwhile, so `watched` is a copy.
    const watched = [...this.#running];
    const held = new Set(await this.#renew());
    for (const [branchId, lost] of watched) if (!held.has(branchId)) lost();
  }
}

interface LiveEnvironment {
  readonly alive: boolean;
  readonly sound: boolean;
  readonly programs: { readonly running: boolean };
  close(): Promise<void>;
}

interface LiveEnvironmentsOptions<E extends LiveEnvironment, B> {
  readonly open: (branch: B) => Promise<E>;
  readonly kept: number;
  readonly onClose: (branchId: string) => void;
}

export interface WantedFor {
  readonly run: string;
  readonly after: string | null;
  readonly reopen: boolean;
}

interface Entry<E extends LiveEnvironment> {
  readonly lock: Semaphore;
  environment: Promise<E> | null;
  opened: E | null;
  run: string | null;
}

export class LiveEnvironments<E extends LiveEnvironment, B extends { readonly branchId: string }> {
  readonly #options: LiveEnvironmentsOptions<E, B>;
  readonly #entries = new Map<string, Entry<E>>();

  constructor(options: LiveEnvironmentsOptions<E, B>) {
    this.#options = options;
  }

  /** Callers must take this lock before their first await. */
  lockOf({ branchId }: B): Semaphore {
    return this.#entryOf(branchId).lock;
  }

  opened(branchId: string | null): readonly E[] {
    const entries = branchId === null ? [...this.#entries.values()] : [this.#entries.get(branchId)];
    return entries.flatMap((entry) => entry?.opened ?? []);
  }

  isBusy(branchId: string): boolean {
    return (this.#entries.get(branchId)?.lock.open ?? 0) > 0;
  }

  /** The caller must hold the lock of the branch, and must have stored the run as running. */
  async use(branch: B, { run, after, reopen }: WantedFor): Promise<E> {
    const entry = this.#entryOf(branch.branchId);
    const { opened } = entry;
    const isCurrent = opened !== null && opened.sound && after !== null && entry.run === after && !reopen;
    entry.run = run;
    if (isCurrent) return opened;
    entry.opened = null;
    await opened?.close();
    entry.environment = this.#options.open(branch);
    try {
      return entry.opened = await entry.environment;
    } catch (error) {
      entry.environment = null;
      throw error;
    }
  }

  outdate(branchId: string): void {
    const entry = this.#entries.get(branchId);
    if (entry) entry.run = null;
  }

  async close(branchId: string): Promise<void> {
    const entry = this.#entries.get(branchId);
    this.#entries.delete(branchId);
    this.#options.onClose(branchId);
    const environment = await entry?.environment?.catch(() => null);
    await environment?.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.close(id)));
  }

  #entryOf(branchId: string): Entry<E> {
    const known = this.#entries.get(branchId);
    const entry = known ?? { lock: new Semaphore(), environment: null, opened: null, run: null };
    if (!known) this.trim(1);
    this.#entries.delete(branchId);
    this.#entries.set(branchId, entry);
    return entry;
  }

  trim(more = 0): void {
    for (const [branchId, { environment, opened, lock }] of this.#entries) {
      if (this.#entries.size + more <= this.#options.kept) return;
      const rests = opened ? !opened.alive && !opened.programs.running : environment === null;
      if (rests && lock.open === 0) void this.close(branchId).catch(() => {});
    }
  }
}

export interface PooledChild {
  readonly alive: boolean;
  readonly used: boolean;
  /** Stops the sandbox process, even while it starts, unless a query runs. */
  rest(): Promise<void>;
}

interface ChildPoolOptions {
  readonly live: number;
  readonly idleMs: number;
  readonly after?: (ms: number, f: () => void) => () => void;
  readonly onError: (error: unknown) => void;
}

interface Resting {
  readonly resident: PooledChild;
  cancel(): void;
}

export class ChildPool {
  readonly #options: ChildPoolOptions;
  #children = 0;
  #waiting = 0;
  readonly #resting = new Map<string, Resting>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(options: ChildPoolOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#children + this.#waiting;
  }

  get resting(): number {
    return this.#resting.size;
  }

  get hasRoom(): boolean {
    const alive = Array.from(this.#resting.values()).filter(({ resident }) => resident.alive);
    return this.count - alive.length - this.#stopping.size < this.#options.live;
  }

  async start<C extends { readonly gone: Promise<unknown> }>(open: () => Promise<C>): Promise<C> {
    this.#waiting++;
    await this.#shrink(this.#options.live - 1);
    this.#waiting--;
    this.#children++;
    const left = (): void => void this.#children--;
    try {
      const child = await open();
      void child.gone.then(left, left);
      return child;
    } catch (error) {
      left();
      throw error;
    }
  }

  /** Stops an unused child. Keeps a used child for at most `idleMs`, and only while the pool has room. */
  rest(id: string, resident: PooledChild): void {
    this.forget(id);
    if (!resident.used) return this.#stop(resident);
    const cancel = (this.#options.after ?? afterRealTime)(this.#options.idleMs, () => {
      this.forget(id);
      this.#stop(resident);
    });
    this.#resting.set(id, { resident, cancel });
    void this.#shrink(this.#options.live);
  }

  forget(id: string): void {
    this.#resting.get(id)?.cancel();
    this.#resting.delete(id);
  }

  async #shrink(most: number): Promise<void> {
    while (this.#children > most) {
      this.#stopSurplus();
      if (this.#stopping.size === 0) return;
      await Promise.race(this.#stopping);
    }
  }

  #stopSurplus(): void {
    const surplus = this.count - this.#options.live - this.#stopping.size;
    const needed = this.#stopping.size === 0 ? Math.max(1, surplus) : surplus;
    for (const [id, { resident }] of Array.from(this.#resting).slice(0, Math.max(0, needed))) {
      this.forget(id);
      this.#stop(resident);
    }
  }

  #stop(resident: PooledChild): void {
    const stopping = resident.rest()
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => void this.#stopping.delete(stopping));
    this.#stopping.add(stopping);
  }
}

function afterRealTime(ms: number, f: () => void): () => void {
  const timer = setTimeout(f, ms);
  unrefTimer(timer);
  return () => clearTimeout(timer);
}

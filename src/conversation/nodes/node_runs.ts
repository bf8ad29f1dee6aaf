import { BusyError, HandedOver, messageOf, TakenOverError, UsageError } from "../../domain/errors.ts";
import { newId } from "../../domain/kit/ids.ts";
import { settledWithin } from "../../domain/kit/concurrency.ts";
import type { ApprovalAnswer, ApprovalQuestion, Approve } from "../../domain/query/approval.ts";
import type { QueryReason } from "../../domain/query/outcomes.ts";
import { beforeEpoch, Emitter, isOwnEnd } from "../../domain/query/query_event.ts";
import type { QueryEvent } from "../../domain/query/query_schemas.ts";
import type { Log } from "../../logging/log.ts";
import type { ClaimedJob, LeftQuery, NodeCommand, NodeStore, ProcessOwner, Store } from "../../persistence/store.ts";
import { decode, encode } from "../../sandbox/codec/codec.ts";
import type { QueryRunner, RunnerOptions } from "../query_runner.ts";
import { checkedExtras, WaitingQuestions } from "../ask_options.ts";
import { endEvent } from "../stored_events.ts";
import { type Bell, LocalEvents, type Publisher } from "./node_events.ts";

/** Another node continues a query that ended for one of these reasons, so followers do not see the end. */
const UNSTORED: ReadonlySet<QueryReason> = new Set(["process_lost", "unstored"]);

const BUSY_MS = 500;

const ENDING_MS = 4_000, ANSWER_MS = 500;

export interface NodeRunsParts {
  readonly store: Store;
  readonly nodes: NodeStore;
  readonly runner: QueryRunner;
  readonly router: Parameters<typeof checkedExtras>[1];
  readonly owner: ProcessOwner;
  readonly bell: Bell;
  readonly publisher: Publisher;
  readonly log: Log;
  readonly most: number;
}

interface LocalRun {
  readonly job: ClaimedJob;
  readonly events: LocalEvents;
  readonly lost: AbortController;
  readonly cancelled: AbortController;
  readonly taken: Map<string, boolean | null>;
  readonly left: Promise<boolean>;
}

export class NodeRuns {
  readonly #parts: NodeRunsParts;
  readonly #questions: NodeQuestions;
  readonly #running = new Map<string, LocalRun>();
  readonly #leaving = new AbortController();
  #claiming: Promise<void> | null = null;
  #again = false;
  takeovers = 0;

  constructor(parts: NodeRunsParts) {
    this.#parts = parts;
    this.#questions = new NodeQuestions(parts.nodes);
  }

  get leaving(): boolean {
    return this.#leaving.signal.aborted;
  }

  events(queryId: string): LocalEvents | null {
    return this.#running.get(queryId)?.events ?? null;
  }

  cancel(queryId: string): boolean {
    const run = this.#running.get(queryId);
    run?.cancelled.abort();
    return run !== undefined;
  }

  claim(): void {
    this.#again = true;
    this.#claiming ??= this.#claimAll().catch(this.#failed).finally(() => this.#claiming = null);
  }

  async beat(): Promise<void> {
    const { nodes } = this.#parts;
    const watched = [...this.#running.values()];
    const isClaiming = this.#claiming !== null;
    const held = await nodes.beat();
    for (const { job, lost } of watched) if (held.get(job.queryId) !== job.epoch) lost.abort();
    // If the response of a claim is lost, or if a run cannot store its end, this node holds a job without a run.
    const forgotten = [...held].filter(([queryId]) => !isClaiming && !this.#running.has(queryId));
    for (const [queryId, epoch] of this.#claiming ? [] : forgotten) await nodes.release({ queryId, epoch });
    this.claim();
    this.obey();
  }

  obey(): void {
    if (this.#running.size === 0) return;
    this.#parts.nodes.commands([...this.#running.keys()]).then((found) => {
      for (const command of found) void this.#carryOut(command).catch(this.#failed);
    }, this.#failed);
  }

  readonly answer: NodeQuestions["answer"] = (queryId, id, given) => this.#questions.answer(queryId, id, given);

  /** Without another node, the queries may end until `endingMs` before the end of `graceMs`. If the database does not
   * respond then, the node gives up its queries. */
  async drain(graceMs: number, endingMs: number = ENDING_MS): Promise<void> {
    const { nodes } = this.#parts;
    const untilEndingMs = Math.max(0, graceMs - endingMs);
    if (untilEndingMs === 0) this.#leaving.abort();
    const timers = [
      setTimeout(() => this.#leaveAll(), graceMs),
      setTimeout(() => {
        this.#leaving.abort();
        void settledWithin(nodes.waiting(), ANSWER_MS).then((answers) => answers || this.#leaveAll());
      }, untilEndingMs),
    ];
    const hasOthers = await nodes.drain().catch(this.#failed);
    if (hasOthers !== false) this.#leaving.abort();
    await this.#claiming;
    await Promise.all(Array.from(this.#running.values(), ({ left }) => left));
    await this.#parts.publisher.sent();
    for (const timer of timers) clearTimeout(timer);
  }

  #leaveAll(): void {
    this.#parts.nodes.giveUp();
    this.#parts.publisher.giveUp();
    for (const { job, lost } of this.#running.values()) {
      void this.#parts.nodes.release(job).catch(this.#failed).then(() => lost.abort());
    }
  }

  async #claimAll(): Promise<void> {
    const { nodes, most } = this.#parts;
    while (this.#again && !this.leaving) {
      this.#again = false;
      const room = most - this.#running.size;
      if (room <= 0) return;
      const claimed = await nodes.claim(room, Array.from(this.#running.values(), ({ job }) => job.branchId));
      for (const job of claimed) this.#begin(job);
      if (claimed.length > 0) this.obey(); // A lost node may have left commands for these queries.
    }
  }

  #begin(job: ClaimedJob): void {
    const { queryId, lost: wasLost, begun } = job;
    if (wasLost && begun) this.takeovers++;
    const events = new LocalEvents(job.epoch);
    const [lost, cancelled] = [new AbortController(), new AbortController()];
    const left = this.#run(job, { events, signal: AbortSignal.any([lost.signal, cancelled.signal]) });
    this.#running.set(queryId, { job, events, lost, cancelled, taken: new Map(), left });
    this.#parts.bell.ring(queryId);
  }

  async #run(
    job: ClaimedJob,
    { events, signal }: { readonly events: LocalEvents; readonly signal: AbortSignal },
  ): Promise<boolean> {
    const { queryId } = job;
    const { nodes, bell } = this.#parts;
    const emit = (event: QueryEvent): void => this.#emit(queryId, events, event);
    try {
      await runJob(job, this.#parts, {
        ...{ emit, signal, leaving: this.#leaving.signal },
        approve: (question, waiting) => this.#questions.ask(job, question, waiting),
      });
      return false;
    } catch (error) {
      return await this.#stopped(job, error);
    } finally {
      events.over = true;
      this.#running.delete(queryId);
      nodes.settled(queryId);
      bell.ring(queryId);
      this.claim();
    }
  }

  async #stopped(job: ClaimedJob, error: unknown): Promise<boolean> {
    const { nodes, publisher, store } = this.#parts;
    const { queryId } = job;
    if (error instanceof TakenOverError) return true;
    if (error instanceof HandedOver) {
      await publisher.sent();
      await nodes.release(job).catch(this.#failed); // If this fails, another node takes the job when its lease ends.
      return true;
    }
    if (error instanceof BusyError) {
      const signal = this.#running.get(queryId)?.cancelled.signal;
      if (signal?.aborted) {
        await nodes.refuse(job).catch(this.#failed);
        return false;
      }
      await nodes.release(job, BUSY_MS).catch(this.#failed);
      // The next attempt obeys a cancellation that came too late for this one.
      if (signal?.aborted) await nodes.send({ id: newId(), queryId, kind: "cancel", body: "" }).catch(this.#failed);
      return true;
    }
    this.#failed(error);
    const isStored = await store.query(queryId).then((query) => query !== null, () => true);
    if (isStored) return false;
    publisher.add({ queryId, number: beforeEpoch(job.epoch) + 1, body: JSON.stringify({ refused: messageOf(error) }) });
    await publisher.sent();
    await nodes.refuse(job).catch(this.#failed);
    return false;
  }

  #emit(queryId: string, events: LocalEvents, event: QueryEvent): void {
    if (isOwnEnd(event) && UNSTORED.has(event.result.reason)) return;
    const number = events.add(event);
    this.#parts.publisher.add({ queryId, number, body: JSON.stringify(event) });
    this.#parts.bell.ring(queryId);
  }

  async #carryOut(command: NodeCommand): Promise<void> {
    const { id, queryId, kind } = command;
    const run = this.#running.get(queryId);
    if (!run || run.taken.get(id) === null) return;
    let done = run.taken.get(id) ?? null;
    run.taken.set(id, null);
    try {
      done ??= await this.#obeyed(command, run);
      // A query that continues elsewhere keeps its open commands for the next node, except answers.
      if (done || kind === "answer" || !await run.left) await this.#parts.nodes.settle(command, done);
    } catch (error) {
      if (done === null) run.taken.delete(id);
      else run.taken.set(id, done);
      throw error;
    }
  }

  async #obeyed({ queryId, kind, body }: NodeCommand, { job, cancelled }: LocalRun): Promise<boolean> {
    if (kind === "steer") return await this.#parts.runner.steer(job.branchId, body);
    if (kind === "answer") return this.#answerWith(queryId, body);
    cancelled.abort();
    return true;
  }

  #answerWith(queryId: string, body: string): boolean {
    const { id, ...answer } = JSON.parse(body);
    return this.#questions.answer(queryId, id, answer);
  }

  readonly #failed = (error: unknown): void =>
    this.#parts.log.warn("node_failed", {
      error: error instanceof Error ? error.stack ?? error.message : String(error),
    });
}

type LocalOption =
  | ("signal" | "emit" | "onBranch" | "approve" | "onUnasked" | "refuseWhenBusy" | "leaving")
  | ("context" | "variables" | "given" | "queryId" | "left" | "extras");

interface JobRequest extends Omit<RunnerOptions, LocalOption> {
  readonly text: string;
  readonly asks: boolean;
}

export function encodeRequest(text: string, options: Omit<RunnerOptions, "extras">): Uint8Array {
  const local: Readonly<Record<LocalOption, undefined>> = {
    ...{
      signal: undefined,
      emit: undefined,
      onBranch: undefined,
      approve: undefined,
      onUnasked: undefined,
      refuseWhenBusy: undefined,
    },
    ...{ context: undefined, variables: undefined, given: undefined, queryId: undefined, left: undefined },
    ...{ leaving: undefined, extras: undefined },
  };
  const request: JobRequest = { ...options, ...local, text, asks: options.approve !== undefined };
  return encode(request);
}

function decodeRequest(bytes: Uint8Array<ArrayBuffer>): JobRequest {
  return decode(bytes) as JobRequest;
}

/** If this number of nodes end during the start or during the same iteration of a query, Vis stops running the
 * query. */
const MOST_LOSSES = 3;

async function runJob(
  job: ClaimedJob,
  parts: NodeRunsParts,
  options: Pick<RunnerOptions, "emit" | "signal" | "leaving"> & { readonly approve: Approve },
): Promise<void> {
  const { store, runner, router } = parts;
  const { queryId, branchId, losses } = job;
  const branch = await store.findConversation(branchId);
  if (!branch) throw new UsageError("Cannot run the request: its conversation was deleted");
  const { text, asks, ...rest } = decodeRequest(job.request ?? await parts.nodes.request(queryId));
  const { approve, ...listening } = options;
  const extras = await checkedExtras(rest, router);
  const given = { ...rest, ...listening, extras, queryId, ...(asks ? { approve } : {}) };
  if (!job.begun) {
    if (losses >= MOST_LOSSES) {
      throw new UsageError(`Cannot run the request: ${losses} nodes stopped while they started it; send it again`);
    }
    await runner.run(branch, text, given);
    return;
  }
  const left = await store.takeOver(queryId, parts.owner);
  if (left && losses >= MOST_LOSSES) await giveUp(job, store, left);
  const [query, iterations, seq] = await Promise.all([
    store.query(queryId),
    store.iterations(queryId),
    lastSeq(queryId, parts.nodes),
  ]);
  if (!query) return;
  if (query.running && left) {
    const from = { ...left, query, iterations, elapsedMs: job.elapsedMs, seq };
    await runner.run(branch, text, { ...given, left: from });
  } else if (!query.running) new Emitter(options.emit, { queryId, now: Date.now, seq }).send(endEvent(query));
}

async function lastSeq(queryId: string, nodes: Pick<NodeStore, "eventsAfter">): Promise<number> {
  let seq = 0, after = 0;
  for (;;) {
    const found = await nodes.eventsAfter(queryId, after);
    if (found.length === 0) return seq;
    for (const { number, body } of found) {
      after = number;
      const event: Partial<QueryEvent> = JSON.parse(body);
      if (event.queryId === queryId) seq = Math.max(seq, event.seq ?? 0);
    }
  }
}

async function giveUp(
  { queryId, losses, elapsedMs }: ClaimedJob,
  store: Store,
  { usage, costUsd }: LeftQuery,
): Promise<void> {
  const { iterations = 0 } = await store.query(queryId) ?? {};
  await store.endQuery(queryId, {
    // Clients may repeat a request that ended with "process_lost", so this end needs a different reason.
    ...{ status: "error", reason: "defect", answerType: "text", confidence: null, notes: [] },
    answer: `Cannot finish the request: ${losses} nodes in a row ended while they ran its step ${iterations + 1}; ` +
      "the logs of the nodes may give the reason",
    ...{ iterations, usage, costUsd, ms: elapsedMs },
  });
}

type Job = Pick<ClaimedJob, "queryId" | "epoch">;

class NodeQuestions {
  readonly #store: Pick<NodeStore, "setQuestions">;
  readonly #ofQueries = new Map<string, WaitingQuestions>();
  #shown: Promise<void> = Promise.resolve();

  constructor(store: Pick<NodeStore, "setQuestions">) {
    this.#store = store;
  }

  async ask(job: Job, question: ApprovalQuestion, signal: AbortSignal): Promise<ApprovalAnswer> {
    const waiting = this.#ofQueries.get(job.queryId) ?? new WaitingQuestions();
    this.#ofQueries.set(job.queryId, waiting);
    const answer = waiting.approve(question, signal);
    this.#show(job);
    try {
      return await answer;
    } finally {
      this.#show(job);
      if (waiting.all.length === 0) this.#ofQueries.delete(job.queryId);
    }
  }

  answer(queryId: string, id: string, given: ApprovalAnswer): boolean {
    return this.#ofQueries.get(queryId)?.answer(id, given) ?? false;
  }

  #show(job: Job): void {
    const questions = this.#ofQueries.get(job.queryId)?.all ?? [];
    const show = () => this.#store.setQuestions(job, questions);
    // If this fails, clients find the approval only in the events of the query.
    this.#shown = this.#shown.then(show).catch(() => {});
  }
}

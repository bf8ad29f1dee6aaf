import { BusyError, Cancelled } from "../../domain/errors.ts";
import { withPatience } from "../../domain/kit/concurrency.ts";
import { newId } from "../../domain/kit/ids.ts";
import type { ApprovalAnswer, ApprovalQuestion } from "../../domain/query/approval.ts";
import { beforeEpoch, isOwnEnd } from "../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../domain/query/query_schemas.ts";
import type { NodeCommand, NodeNews, Store } from "../../persistence/store.ts";
import type { ConversationParts, SharedQueries, SharedRun } from "../conversations.ts";
import type { AskOptions } from "../ask_options.ts";
import { Bell, followQuery, Publisher, ringOrLook } from "./node_events.ts";
import { encodeRequest, NodeRuns, type NodeRunsParts } from "./node_runs.ts";

const BEAT_MS = 1_000;
const TRIM_MS = 60_000;
const KEPT_MS = 15 * 60_000;

type NodeParts = Omit<NodeRunsParts, "bell" | "publisher">;

export class Node implements SharedQueries {
  readonly #parts: NodeParts;
  readonly #bell = new Bell();
  readonly #runs: NodeRuns;
  readonly #timers: ReturnType<typeof setInterval>[] = [];
  #beating = false;

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.#runs = new NodeRuns({ ...parts, bell: this.#bell, publisher: new Publisher(parts.nodes) });
  }

  async start(): Promise<void> {
    const { nodes } = this.#parts;
    await nodes.join((news) => this.#heard(news));
    this.#timers.push(
      setInterval(() => void this.#beat(), BEAT_MS),
      setInterval(() => void nodes.trim(KEPT_MS).catch(() => {}), TRIM_MS),
    );
    this.#runs.claim();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    const { nodes } = this.#parts;
    nodes.giveUp(); // Another node continues work that this node has not stored.
    await nodes.leave().catch(() => {});
  }

  async drain(graceMs: number, endingMs?: number): Promise<void> {
    await this.#runs.drain(graceMs, endingMs);
  }

  async ask(...[branch, text, options]: Parameters<SharedQueries["ask"]>): Promise<QueryResult> {
    const { signal, requestKey, refuseWhenBusy = false } = options;
    if (signal.aborted) throw new Cancelled("Cancelled");
    const queryId = newId();
    const request = encodeRequest(text, options);
    await this.#parts.nodes.accept({ queryId, branchId: branch.branchId, request, requestKey, refuseWhenBusy });
    // If this node is leaving, another node continues the query, so an abort ends only the wait.
    const stop = new AbortController();
    const cancel = (): void => {
      if (this.#runs.leaving) stop.abort();
      else void this.#cancel(queryId).catch(() => {});
    };
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      return await withPatience(undefined, () => this.#until(queryId, options, stop.signal));
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async #until(queryId: string, options: AskOptions, signal: AbortSignal): Promise<QueryResult> {
    const open = new Map<string, AbortController>();
    try {
      for await (const { event, number } of this.#follow(queryId, 0, signal)) {
        options.emit(event, number);
        this.#ask(event, { queryId, open, options });
        if (isOwnEnd(event)) return event.result;
      }
      throw new BusyError(
        `Cannot return the answer: this server is shutting down, and request ${queryId} continues on another server or ` +
          "after the restart; read its answer there, and do not send the request again",
      );
    } finally {
      for (const controller of open.values()) controller.abort();
    }
  }

  #ask(
    event: QueryEvent,
    { queryId, open, options: { approve } }: {
      readonly queryId: string;
      readonly open: Map<string, AbortController>;
      readonly options: AskOptions;
    },
  ): void {
    if (event.type === "approval_answered") open.get(event.id)?.abort();
    if (event.type !== "approval_requested" || !approve) return;
    const controller = new AbortController();
    open.set(event.id, controller);
    const { id, extension, what, why, scope, scopes, lasting, once } = event;
    approve({ id, extension, what, why, scope, scopes, lasting, once }, controller.signal)
      .then((answer) => this.#answer(queryId, id, answer)).catch(() => {});
  }

  async steer(branchId: string, text: string, signal?: AbortSignal): Promise<boolean> {
    const { runner, nodes } = this.#parts;
    if (runner.runs(branchId)) return await runner.steer(branchId, text, signal);
    const job = await nodes.runningJob(branchId);
    return job !== null && await this.#command({ queryId: job, kind: "steer", body: text }, signal);
  }

  async cancel(conversationId: string): Promise<number> {
    const jobs = await this.#parts.nodes.jobs(conversationId);
    for (const { queryId } of jobs) await this.#cancel(queryId);
    return jobs.length;
  }

  async #cancel(queryId: string): Promise<void> {
    const { nodes } = this.#parts;
    if (this.#runs.cancel(queryId) || await nodes.withdraw(queryId)) return this.#bell.ring(queryId);
    await nodes.send({ id: newId(), queryId, kind: "cancel", body: "" });
  }

  async questions(conversationId: string): Promise<readonly ApprovalQuestion[]> {
    return (await this.#parts.nodes.jobs(conversationId)).flatMap(({ questions }) => questions);
  }

  async answer(conversationId: string, questionId: string, answer: ApprovalAnswer): Promise<boolean> {
    for (const { queryId } of await this.#parts.nodes.jobs(conversationId)) {
      if (await this.#answer(queryId, questionId, answer)) return true;
    }
    return false;
  }

  async #answer(queryId: string, id: string, answer: ApprovalAnswer): Promise<boolean> {
    if (this.#runs.events(queryId)) return this.#runs.answer(queryId, id, answer);
    return await this.#command({ queryId, kind: "answer", body: JSON.stringify({ ...answer, id }) });
  }

  async isBusy(conversationId: string): Promise<boolean> {
    return (await this.#parts.nodes.jobs(conversationId)).length > 0;
  }

  async load(): ReturnType<SharedQueries["load"]> {
    return { ...await this.#parts.nodes.waiting(), takeovers: this.#runs.takeovers };
  }

  async follow(queryId: string, signal: AbortSignal): Promise<SharedRun | null> {
    const { nodes } = this.#parts;
    const [job, range] = await Promise.all([nodes.job(queryId), nodes.eventRange(queryId)]);
    if (!job) return range && await this.#ended(queryId, range);
    const nothing = job.epoch > 0 ? beforeEpoch(job.epoch) + 1 : 0;
    const { oldest, newest } = range ?? { oldest: nothing + 1, newest: nothing };
    const { branchId } = job;
    return { branchId, oldest, newest, running: true, events: (after) => this.#follow(queryId, after, signal) };
  }

  async #ended(
    queryId: string,
    { oldest, newest }: { readonly oldest: number; readonly newest: number },
  ): Promise<SharedRun | null> {
    const { nodes, store } = this.#parts;
    const parts = { nodes, store, bell: this.#bell, local: () => null };
    const stored = await store.query(queryId);
    for await (const { event } of followQuery(queryId, parts, { after: newest - 1, signal: NEVER })) {
      if (!stored || !isOwnEnd(event)) return null;
    }
    const events = (after: number) =>
      followQuery(queryId, parts, { after, signal: after < newest ? NEVER : AbortSignal.abort() });
    return { branchId: stored?.branchId ?? "", oldest, newest, running: false, events };
  }

  #follow(queryId: string, after: number, signal: AbortSignal): ReturnType<typeof followQuery> {
    const parts = { ...this.#parts, bell: this.#bell, local: (id: string) => this.#runs.events(id) };
    return followQuery(queryId, parts, { after, signal });
  }

  async #command(command: Omit<NodeCommand, "id">, signal: AbortSignal = NEVER): Promise<boolean> {
    const { nodes } = this.#parts;
    const id = newId();
    if (!await nodes.send({ ...command, id })) return false;
    for (;;) {
      const ring = this.#bell.next(command.queryId);
      const outcome = await nodes.outcome(id);
      if (outcome !== null || signal.aborted) {
        this.#bell.ring(command.queryId); // Ringing removes this wait from the bell.
        if (outcome === null) await nodes.settle({ id, queryId: command.queryId }, false);
        return outcome ?? false;
      }
      await ringOrLook(ring, signal);
    }
  }

  #heard(news: NodeNews | null): void {
    if (news === null) this.#bell.ringAll();
    else if (news.queryId !== "") this.#bell.ring(news.queryId);
    if (news === null || news.about === "command") this.#runs.obey();
    if (news === null || news.about === "job") this.#runs.claim();
  }

  async #beat(): Promise<void> {
    if (this.#beating) return;
    this.#beating = true;
    await this.#runs.beat().catch(() => {}).finally(() => this.#beating = false);
  }
}

const NEVER = new AbortController().signal;

const MOST = 64;

interface OpenedNode {
  readonly parts: Required<Pick<ConversationParts, "shared">>;
  /** The caller must first give `shared` to the conversations. */
  start(): Promise<void>;
  /** The caller must first end the queries of this node. */
  close(): Promise<void>;
}

export async function openNode(
  store: Store,
  parts: Pick<NodeParts, "router" | "owner" | "log">,
): Promise<OpenedNode> {
  if (!store.asNode) throw new Error("Cannot run several nodes: the database belongs to one machine; use PostgreSQL");
  const nodes = await store.asNode(newId());
  const all = store.of(null);
  let node: Node | null = null;
  return {
    parts: { shared: (runner) => node = new Node({ ...parts, store: all, nodes, runner, most: MOST }) },
    start: async () => await node?.start(),
    close: async () => await node?.close(),
  };
}

import { UsageError } from "../../domain/errors.ts";
import type { Approve } from "../../domain/query/approval.ts";
import { type Emit, Emitter } from "../../domain/query/query_event.ts";
import type { QueryEvent } from "../../domain/query/query_schemas.ts";
import type { ClaimedJob, LeftQuery, NodeStore, ProcessOwner, Store } from "../../persistence/store.ts";
import { decode, encode } from "../../sandbox/codec/codec.ts";
import type { QueryRunner, RunnerOptions } from "../query_runner.ts";
import { checkedExtras } from "../send_options.ts";
import { endEvent } from "../stored_events.ts";

/** A request as it waits for a node: everything that a run needs besides its query. */
interface JobRequest extends
  Pick<
    RunnerOptions,
    | "read"
    | "images"
    | "instructions"
    | "plan"
    | "responseSchema"
    | "maxIterations"
    | "model"
    | "limits"
    | "label"
    | "retryOf"
    | "requestKey"
    | "askedAs"
  > {
  readonly text: string;
  /** Whether clients answer questions. */
  readonly asks: boolean;
}

export function encodeRequest(text: string, options: Omit<RunnerOptions, "extras">): Uint8Array {
  const { read, images, instructions, plan, responseSchema, maxIterations, model, limits, label } = options;
  const { retryOf, requestKey, askedAs, approve } = options;
  const request: JobRequest = {
    ...{ text, asks: approve !== undefined, read, images, instructions, plan, responseSchema, maxIterations, model },
    ...{ limits, label, retryOf, requestKey, askedAs },
  };
  return encode(request);
}

function decodeRequest(bytes: Uint8Array<ArrayBuffer>): JobRequest {
  // Only `encodeRequest` makes these bytes.
  return decode(bytes) as JobRequest;
}

/** A request whose step ended the process of so many nodes is not tried again. */
const MOST_LOSSES = 3;

export interface RunJobParts {
  readonly store: Store;
  readonly nodes: NodeStore;
  readonly runner: QueryRunner;
  readonly router: Parameters<typeof checkedExtras>[1];
  readonly owner: ProcessOwner;
}

interface RunJobOptions {
  readonly emit: Emit;
  readonly signal: AbortSignal;
  /** Aborts when this node leaves its queries to others. */
  readonly leaving: AbortSignal;
  readonly approve: Approve;
}

/** Runs a request that this node has taken, or continues it where another node left it. */
export async function runJob(job: ClaimedJob, parts: RunJobParts, options: RunJobOptions): Promise<void> {
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
      throw new UsageError(`Cannot run the request: ${losses} nodes ended while they began it`);
    }
    await runner.run(text, { branch, options: given });
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
    await runner.run(text, { branch, options: { ...given, left: from } });
  } else if (!query.running) new Emitter(options.emit, { queryId, now: Date.now, seq }).send(endEvent(query));
}

/** The newest `seq` in the events of a query itself; 0 if there are none. */
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
    // A lost process is an end after which clients repeat a request.
    ...{ status: "error", reason: "defect", answerType: "text", confidence: "low", notes: [] },
    answer:
      `Cannot finish the request: ${losses} nodes ended while they ran its step ${iterations + 1}, one after the ` +
      "other. What it did before is kept; their logs may say why they ended.",
    ...{ iterations, usage, costUsd, ms: elapsedMs },
  });
}

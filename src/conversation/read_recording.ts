import { counted } from "../domain/kit/text.ts";
import type { JsonValue } from "../domain/kit/json.ts";
import { storedDiffs } from "../domain/query/host_call.ts";
import { storedAsked } from "../domain/query/query_progress.ts";
import type { StoredQuery } from "../domain/query/stored_query.ts";
import type {
  PagedQuery,
  PagedRecording,
  RecordedContext,
  RecordedIteration,
  RecordedQuery,
  Recording,
} from "../domain/records/recording.ts";
import { valueOf } from "../environment/conversation_history.ts";
import type { Branch, Store, StoredIteration } from "../persistence/store.ts";
import { parseReply } from "../prompt/reply/parse_reply.ts";
import { ReplyStream } from "../prompt/reply/stream_reply.ts";

const ITERATIONS_AT_ONCE = 8;

export async function readRecording(store: Store, branch: Branch): Promise<Recording> {
  const { conversationId, title, workspace, createdAt, queries } = await pagedRecording(store, branch);
  const whole: RecordedQuery[] = [];
  for await (const query of queries()) {
    whole.push({ ...query, iterations: await Array.fromAsync(query.iterations()) });
  }
  return { conversationId, title, workspace, createdAt, queries: whole };
}

export async function pagedRecording(store: Store, branch: Branch): Promise<PagedRecording> {
  const { conversationId, title, workspace, createdAt } = branch;
  const shown = new Map((await store.turns(branch.branchId)).map((turn) => [turn.queryId, turn.iterations]));
  const stored = await store.queries(branch.branchId);
  async function* queries(): AsyncGenerator<PagedQuery> {
    for (const query of stored) {
      const { queryId } = query;
      yield {
        ...await queryFacts(store, query),
        context: await givenContext(store, queryId),
        iterations: () => iterationsOf(store, queryId, shown.get(queryId)),
      };
    }
  }
  return { conversationId, title, workspace, createdAt, queries };
}

async function givenContext(store: Store, queryId: string): Promise<RecordedContext | null> {
  const image = (await store.givenImages(queryId)).find(({ name }) => name === "context");
  if (!image) return null;
  const { large, summary } = image;
  const label = summary.doc.replace(/^from /, "");
  if (large !== undefined) return { label, json: false, pieces: () => store.largePieces(large) };
  const value = valueOf(image);
  const json = typeof value !== "string";
  const bytes = new TextEncoder().encode(json ? JSON.stringify(value) : value);
  return { label, json, pieces: () => once(bytes) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function readQuery(store: Store, query: StoredQuery): Promise<RecordedQuery> {
  const iterations = await Array.fromAsync(iterationsOf(store, query.queryId));
  return { ...await queryFacts(store, query), iterations };
}

async function queryFacts(store: Store, query: StoredQuery): Promise<Omit<RecordedQuery, "iterations">> {
  const { images, answerSchema } = await store.queryExtras(query.queryId);
  const { queryId, text, running, status, reason, answer, confidence, usage, costUsd, ms, notes, createdAt } = query;
  const { steered, only } = query;
  return {
    ...{ queryId, text, running, status, reason, answer, confidence, usage, costUsd, ms, notes, createdAt, steered },
    ...(only === undefined ? {} : { only }),
    images,
    context: null,
    answerSchema: answerSchema === null ? null : JSON.parse(answerSchema) as JsonValue,
  };
}

async function* iterationsOf(store: Store, queryId: string, shown = Infinity): AsyncGenerator<RecordedIteration> {
  for (let after = -1, given = 0; given < shown;) {
    const some = await store.iterations(queryId, { after, limit: Math.min(ITERATIONS_AT_ONCE, shown - given) });
    for (const iteration of some) yield await readIteration(store, iteration);
    given += some.length;
    after = some.at(-1)?.position ?? after;
    if (some.length === 0) return;
  }
}

async function readIteration(store: Store, iteration: StoredIteration): Promise<RecordedIteration> {
  const { iterationId, position, status, thinking, response, error, metadata } = iteration;
  const calls = await store.subCalls(iterationId);
  const children: RecordedQuery[] = [];
  for (const child of await store.subQueries(iterationId)) children.push(await readQuery(store, child));
  const { outcome, notes, budget, pendingBlocks, ending } = metadata;
  const pending = iteration.blocks.length === 0 && Array.isArray(pendingBlocks) ? pendingBlocks.length : 0;
  return {
    ...{ iterationId, status, thinking, response, error },
    number: position + 1,
    outcome: typeof outcome === "string" && status !== "interrupted" ? outcome : "",
    nativeReasoning: ending === "broken" ? besidePart(thinking, response) : besideReply(thinking, response),
    ...(ending === "cut" || ending === "broken" ? { ending } : {}),
    notes: [
      ...(Array.isArray(notes) ? notes.map(String) : []),
      ...storedAsked(metadata),
      ...(pending > 0 ? [`${counted(pending, "block")} ${pending === 1 ? "was" : "were"} not finished`] : []),
    ],
    budget: typeof budget === "number" ? budget : null,
    blocks: iteration.blocks.map(({ code, result }, at) => ({ code, result, diffs: storedDiffs(metadata, at) })),
    calls: calls.map(({ prompt, reply, error }) => ({ prompt, reply, error })),
    children,
  };
}

function besideReply(thinking: string, response: string): string {
  if (thinking === "" || response === "") return thinking;
  const parsed = parseReply(response);
  return parsed.ok && parsed.reply.thinking === thinking ? "" : thinking;
}

function besidePart(thinking: string, response: string): string {
  return new ReplyStream().push(response).thinking === thinking ? "" : thinking;
}

import type { QueryEvent } from "../../domain/query_event.ts";
import type { QueryResult } from "../../domain/query_result.ts";
import type { Usage } from "../../domain/usage.ts";
import { openAiErrorBody } from "./openai_error.ts";
import { openAiFailure } from "./openai_failure.ts";
import type { Run } from "./run.ts";

/** What all parts of one completion have in common. */
export interface CompletionFacts {
  readonly queryId: string;
  readonly model: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A whole completion, of a query that has an answer. */
export function completion(result: QueryResult, facts: CompletionFacts): object {
  const message = { role: "assistant", content: result.answer, refusal: null };
  return {
    ...head(facts, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(result) }],
    usage: usageOf(result.usage),
  };
}

/** The chunks of a completion as server-sent events: thinking as `reasoning_content`, then the answer. */
export async function* completionChunks(
  run: Run,
  { facts, includeUsage }: { readonly facts: CompletionFacts; readonly includeUsage: boolean },
): AsyncGenerator<string> {
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: object, finish: string | null = null): string =>
    line({
      ...head(facts, "chat.completion.chunk"),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...usage,
    });
  yield chunk({ role: "assistant", content: "", refusal: null });
  let sent = "";
  for (let found = await run.next(0); found; found = await run.next(found.number)) {
    const { event } = found;
    if (event.parentQueryId !== undefined) continue;
    if (event.type === "thinking") yield chunk({ reasoning_content: event.delta });
    if (event.type === "answer_delta") {
      sent += event.delta;
      yield chunk({ content: event.delta });
    }
    if (isEnd(event)) yield* end(event.result, { facts, chunk, sent, includeUsage });
  }
  yield "data: [DONE]\n\n";
}

function* end(
  result: QueryResult,
  { facts, chunk, sent, includeUsage }: {
    readonly facts: CompletionFacts;
    readonly chunk: (delta: object, finish?: string | null) => string;
    readonly sent: string;
    readonly includeUsage: boolean;
  },
): Generator<string> {
  const failure = openAiFailure(result);
  if (failure) return yield line(openAiErrorBody(failure));
  if (sent === "") yield chunk({ content: result.answer });
  yield chunk({}, finishOf(result));
  if (includeUsage) yield line({ ...head(facts, "chat.completion.chunk"), choices: [], usage: usageOf(result.usage) });
}

function isEnd(event: QueryEvent): event is Extract<QueryEvent, { readonly result: QueryResult }> {
  return event.type === "final" || event.type === "failed" || event.type === "cancelled";
}

function line(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function head({ queryId, model, at }: CompletionFacts, object: string) {
  return { id: `chatcmpl-${queryId}`, object, created: Math.floor(at / 1000), model, system_fingerprint: null };
}

/** "length" where a limit ended it with the best answer so far. */
function finishOf({ reason }: QueryResult): "stop" | "length" {
  return reason === "answered" ? "stop" : "length";
}

function usageOf({ input, output, cached, reasoning }: Usage) {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

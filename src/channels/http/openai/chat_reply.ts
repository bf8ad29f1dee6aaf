import { isChild, isEnd } from "../../../domain/query/query_event.ts";
import type { QueryResult, Usage } from "../../../domain/query/query_schemas.ts";
import type { FollowedEvent } from "../stream/followed_query.ts";
import { openAiErrorBody, openAiFailure } from "./error.ts";

/** Fields that all parts of one completion share. */
export interface CompletionFacts {
  readonly queryId: string;
  readonly model: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A whole completion, for a query that has an answer. */
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
  events: AsyncIterable<FollowedEvent>,
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
  for await (const { event } of events) {
    if (isChild(event)) continue;
    if (event.type === "thinking") yield chunk({ reasoning_content: event.delta });
    if (!isEnd(event)) continue;
    const { result } = event;
    const failure = openAiFailure(result);
    if (failure) yield line(openAiErrorBody(failure));
    else {
      yield chunk({ content: result.answer });
      yield chunk({}, finishOf(result));
      const total = { choices: [], usage: usageOf(result.usage) };
      if (includeUsage) yield line({ ...head(facts, "chat.completion.chunk"), ...total });
    }
  }
  yield "data: [DONE]\n\n";
}

function line(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function head({ queryId, model, at }: CompletionFacts, object: string) {
  return { id: `chatcmpl-${queryId}`, object, created: Math.floor(at / 1000), model, system_fingerprint: null };
}

/** "length" if a limit ended the query with the best answer so far. */
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

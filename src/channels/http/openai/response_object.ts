import type { QueryResult } from "../../../domain/query/query_result.ts";
import type { Usage } from "../../../domain/query/usage.ts";
import { openAiFailure } from "./failure.ts";

/** Fields that all states of one response share. */
export interface ResponseFacts {
  readonly queryId: string;
  readonly conversationId: string;
  readonly model: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly instructions: string | null;
  readonly previousId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** As requested; null for text. */
  readonly format: object | null;
}

/** A response in OpenAI's format; `result` is null while it runs, `thinking` is "" if none is shown. */
export function responseObject(
  facts: ResponseFacts,
  { result, thinking = "" }: { readonly result: QueryResult | null; readonly thinking?: string },
): object {
  const failure = result && openAiFailure(result);
  const status = result === null ? "in_progress" : failure ? "failed" : isWhole(result) ? "completed" : "incomplete";
  return {
    id: `resp_${facts.queryId}`,
    object: "response",
    created_at: Math.floor(facts.at / 1000),
    status,
    background: false,
    error: failure ? { code: "server_error", message: failure.message } : null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: facts.instructions,
    max_output_tokens: null,
    model: facts.model,
    conversation: { id: facts.conversationId },
    output: result && !failure ? outputOf(result, thinking) : [],
    parallel_tool_calls: false,
    previous_response_id: facts.previousId,
    reasoning: { effort: null, summary: null },
    store: true,
    temperature: null,
    text: { format: facts.format ?? { type: "text" } },
    tool_choice: "none",
    tools: [],
    top_p: null,
    truncation: "disabled",
    usage: result && usageOf(result.usage),
    metadata: facts.metadata,
  };
}

function outputOf(result: QueryResult, thinking: string): readonly object[] {
  const summary = { type: "summary_text", text: thinking };
  return [
    ...(thinking === "" ? [] : [{ id: `rs_${result.queryId}`, type: "reasoning", summary: [summary] }]),
    {
      id: `msg_${result.queryId}`,
      type: "message",
      status: isWhole(result) ? "completed" : "incomplete",
      role: "assistant",
      content: [{ type: "output_text", text: result.answer, annotations: [], logprobs: [] }],
    },
  ];
}

/** False if a limit ended the query with the best answer so far. */
function isWhole({ reason }: QueryResult): boolean {
  return reason === "answered";
}

function usageOf({ input, output, cached, cacheWrite = 0, reasoning }: Usage) {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

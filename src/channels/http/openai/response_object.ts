import type OpenAI from "openai";
import { z } from "zod";
import type { QueryResult, Usage } from "../../../domain/query/query_schemas.ts";
import { openAiFailure } from "./error.ts";

type Message = OpenAI.Responses.ResponseOutputMessage & { readonly content: [OpenAI.Responses.ResponseOutputText] };

type Given = "text" | "usage" | "metadata" | "store";
type OpenAiResponse = Omit<OpenAI.Responses.Response, "output_text" | Given> & Readonly<Record<Given, unknown>>;

/** What a response repeats of its request; queries of other APIs have none of it. */
export const AskedSchema = z.object({
  model: z.string().catch("vis"),
  instructions: z.string().nullable().catch(null),
  previousId: z.string().nullable().catch(null),
  metadata: z.record(z.string(), z.unknown()).catch({}),
  /** Null for text. */
  format: z.record(z.string(), z.unknown()).nullable().catch(null),
});

/** Fields that all states of one response share. */
export interface ResponseFacts extends z.infer<typeof AskedSchema> {
  readonly queryId: string;
  readonly conversationId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface ResponseParts {
  readonly response: object;
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly message: Message | null;
}

/** A response in OpenAI's format, and of it the status and the message of the answer. `result` is null while it runs,
 * `thinking` is "" if none is shown. */
export function responseObject(
  facts: ResponseFacts,
  { result, thinking = "" }: { readonly result: QueryResult | null; readonly thinking?: string },
): ResponseParts {
  const failure = result && openAiFailure(result);
  // Incomplete: a limit ended the query with the best answer so far.
  const ended = result?.reason === "answered" ? "completed" : "incomplete";
  const status = result ? failure ? "failed" : ended : "in_progress";
  const message = result && !failure ? messageItem(result, ended) : null;
  const response: OpenAiResponse = {
    id: `resp_${facts.queryId}`,
    object: "response",
    created_at: Math.floor(facts.at / 1000),
    status,
    access_programs: null,
    background: false,
    error: failure ? { code: "server_error", message: failure.message } : null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    instructions: facts.instructions,
    max_output_tokens: null,
    model: facts.model,
    conversation: { id: facts.conversationId },
    output: message ? [...(thinking === "" ? [] : [reasoningItem(facts, thinking)]), message] : [],
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
  return { response, status, message };
}

/** The thinking of a response. */
export function reasoningItem(
  { queryId }: Pick<ResponseFacts, "queryId">,
  text: string,
): OpenAI.Responses.ResponseReasoningItem {
  return { id: `rs_${queryId}`, type: "reasoning", status: "completed", summary: [{ type: "summary_text", text }] };
}

function messageItem({ queryId, answer: text }: QueryResult, status: Message["status"]): Message {
  const content = { type: "output_text" as const, text, annotations: [], logprobs: [] };
  return { id: `msg_${queryId}`, type: "message", status, role: "assistant", content: [content] };
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

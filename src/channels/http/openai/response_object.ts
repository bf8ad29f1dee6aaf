import type OpenAI from "openai";
import { z } from "zod";
import { isChild, isEnd } from "../../../domain/query/query_event.ts";
import type { QueryResult, Usage } from "../../../domain/query/query_schemas.ts";
import type { FollowedEvent } from "../followed_query.ts";
import { openAiFailure } from "./error.ts";

type Message = OpenAI.Responses.ResponseOutputMessage & { readonly content: [OpenAI.Responses.ResponseOutputText] };

type Given = "text" | "usage" | "metadata" | "store";
type OpenAiResponse = Omit<OpenAI.Responses.Response, "output_text" | Given> & Readonly<Record<Given, unknown>>;

const count = z.number().int();
const OutputItem = z.object({ id: z.string(), type: z.enum(["reasoning", "message"]) }).loose();

/** A response, with the fields that have a meaning here. */
export const ResponseSchema = z.object({
  id: z.string().describe("resp_ followed by the query id"),
  object: z.literal("response"),
  created_at: count.describe("Seconds since the epoch"),
  status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  model: z.string(),
  conversation: z.object({ id: z.string() }),
  previous_response_id: z.string().nullable(),
  output: z.array(OutputItem),
  usage: z.object({ input_tokens: count, output_tokens: count, total_tokens: count }).loose().nullable(),
  metadata: z.record(z.string(), z.unknown()),
}).loose();

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
interface ResponseFacts extends z.infer<typeof AskedSchema> {
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
function reasoningItem(
  { queryId }: Pick<ResponseFacts, "queryId">,
  text: string,
): OpenAI.Responses.ResponseReasoningItem {
  return { id: `rs_${queryId}`, type: "reasoning", status: "completed", summary: [{ type: "summary_text", text }] };
}

function messageItem({ queryId, answer: text }: QueryResult, status: Message["status"]): Message {
  const content = { type: "output_text" as const, text, annotations: [], logprobs: [] };
  return { id: `msg_${queryId}`, type: "message", status, role: "assistant", content: [content] };
}

function usageOf({ input, output, cached, cacheWrite = 0, reasoning, estimated = 0 }: Usage) {
  return {
    ...(estimated > 0 ? { estimated: true } : {}),
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}

type Send = (type: string, data: object) => string;

/** The events of a response in OpenAI's format: thinking as one reasoning item, then the answer as a message. */
export async function* responseEvents(
  events: AsyncIterable<FollowedEvent>,
  facts: ResponseFacts,
): AsyncGenerator<string> {
  let number = 0;
  const send: Send = (name, data) => {
    const type = `response.${name}`;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...data })}\n\n`;
  };
  const { response } = responseObject(facts, { result: null });
  yield send("created", { response }) + send("in_progress", { response });
  const thought = { item_id: `rs_${facts.queryId}`, output_index: 0, summary_index: 0 };
  let thinking = "";
  for await (const { event } of events) {
    if (isChild(event)) continue;
    if (event.type === "thinking" || (event.type === "iteration_finished" && thinking !== "")) {
      const delta = event.type === "thinking" ? event.delta : "\n";
      if (thinking === "") {
        const item = { ...reasoningItem(facts, ""), summary: [], status: "in_progress" };
        yield send("output_item.added", { output_index: 0, item }) +
          send("reasoning_summary_part.added", { ...thought, part: { type: "summary_text", text: "" } });
      }
      thinking += delta;
      yield send("reasoning_summary_text.delta", { ...thought, delta });
    }
    if (!isEnd(event)) continue;
    if (thinking !== "") {
      const item = reasoningItem(facts, thinking);
      yield send("reasoning_summary_text.done", { ...thought, text: thinking }) +
        send("reasoning_summary_part.done", { ...thought, part: item.summary[0] }) +
        send("output_item.done", { output_index: 0, item });
    }
    yield ended(send, { facts, result: event.result, thinking });
  }
}

/** The message, whole, and the end. */
function ended(
  send: Send,
  { facts, ...of }: { readonly facts: ResponseFacts; readonly result: QueryResult; readonly thinking: string },
): string {
  const { response, status, message } = responseObject(facts, of);
  if (!message) return send(status, { response });
  const [part] = message.content;
  const { text } = part;
  const index = of.thinking === "" ? 0 : 1;
  const at = { item_id: message.id, output_index: index, content_index: 0 };
  return send("output_item.added", { output_index: index, item: { ...message, status: "in_progress", content: [] } }) +
    send("content_part.added", { ...at, part: { ...part, text: "" } }) +
    send("output_text.delta", { ...at, delta: text, logprobs: [] }) +
    send("output_text.done", { ...at, text, logprobs: [] }) +
    send("content_part.done", { ...at, part }) +
    send("output_item.done", { output_index: index, item: message }) +
    send(status, { response });
}

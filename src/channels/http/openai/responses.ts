import { type Context, Hono } from "hono";
import type OpenAI from "openai";
import { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskTarget } from "../../../conversation/ask_options.ts";
import { resultOf } from "../../../conversation/stored_events.ts";
import { isChild, isEnd } from "../../../domain/query/query_event.ts";
import { type QueryResult, QueryResultSchema, type Usage } from "../../../domain/query/query_schemas.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { Env, HttpParts } from "../http_parts.ts";
import type { FollowedEvent } from "../followed_query.ts";
import { Problem, unfitField } from "../problem.ts";
import { describeIn, EVENT_STREAM, existing, validJson, validQuery } from "../route.ts";
import type { Begun } from "../live_runs.ts";
import {
  MessageSchema,
  OPENAI_HEADERS,
  openAiAsk,
  OpenAiBody,
  openAiFailure,
  type OpenAiMessage,
  openAiTarget,
  servedModel,
} from "./ask.ts";

const describe = describeIn("openai");

const count = z.number().int();
const OutputItem = z.object({ id: z.string(), type: z.enum(["reasoning", "message"]) }).loose();

export const ResponseSchema = z.object({
  id: z.string().describe("resp_ followed by the query id"),
  object: z.literal("response"),
  created_at: count.describe("Time in seconds since the epoch"),
  status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  model: z.string(),
  conversation: z.object({ id: z.string() }),
  previous_response_id: z.string().nullable(),
  output: z.array(OutputItem),
  usage: z.object({ input_tokens: count, output_tokens: count, total_tokens: count }).loose().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  work: QueryResultSchema.shape.work,
}).loose();

const AskedSchema = z.object({
  model: z.string().catch("vis"),
  instructions: z.string().nullable().catch(null),
  previousId: z.string().nullable().catch(null),
  metadata: z.record(z.string(), z.unknown()).catch({}),
  format: z.record(z.string(), z.unknown()).nullable().catch(null),
});

/** Clients may send the reasoning of earlier responses back, which Vis ignores. */
const Reasoning = z.object({ type: z.literal("reasoning") });

const Reference = z.object({ type: z.literal("item_reference").nullish(), id: z.string() });

const Item = z.union(
  [MessageSchema, Reasoning, Reference],
  "must be a message, reasoning or a reference to an item, because Vis reads no calls of tools and no files",
);

const Format = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), schema: z.unknown().optional() }).loose(),
]);

const ResponseBody = OpenAiBody.extend({
  model: z.string().nullish(),
  input: z.union([z.string(), z.array(Item).min(1)]),
  instructions: z.string().nullish().describe("Instructions for this query only"),
  text: z.object({ format: Format.nullish() }).nullish(),
  previous_response_id: z.string().nullish().describe(
    "Id of the response to continue; if other responses already follow it, Vis makes a new branch",
  ),
  conversation: z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]).nullish().describe(
    "Id of the conversation to continue",
  ),
  background: z.literal(false, "must be false; wait for the response, or stream it").nullish(),
  prompt: z.null("must be null, because Vis supports no stored prompts").optional(),
});

type ResponseRequest = z.infer<typeof ResponseBody>;

export const responses = new Hono<Env>();

responses.post(
  "/responses",
  describe(
    "openaiCreateResponse",
    "Run a query as a response; disconnecting cancels it, except with an Idempotency-Key",
    {
      scope: "write",
      headers: OPENAI_HEADERS,
      200: [ResponseSchema, EVENT_STREAM],
      errors: [409],
    },
  ),
  validJson(ResponseBody),
  async (c) => {
    const body = c.req.valid("json");
    const { parts } = c.env;
    const { id: model } = servedModel(parts, body.model ?? undefined);
    const askedAs = { ...askedOf(body), model };
    const at = parts.now();
    const facts = ({ queryId, branchId }: Begun) => ({ ...askedAs, at, queryId, conversationId: branchId });
    return await openAiAsk(c, {
      ...{ body, known: ResponseBody.shape, target: await targetOf(c, body), askedAs },
      given: { messages: await messagesOf(parts, body), field: "input", format: body.text?.format },
      events: (events, begun) => responseEvents(events, facts(begun)),
      whole: async (result, begun) =>
        responseObject(facts(begun), { result, thinking: await thinkingOf(parts, begun.queryId) }).response,
    });
  },
);

responses.get(
  "/responses/:response",
  describe("openaiGetResponse", "Get an earlier response", { 200: ResponseSchema }),
  validQuery(z.object({ stream: z.string().optional().describe("Only false is supported") })),
  async (c) => {
    const { stream = "false" } = c.req.valid("query");
    if (stream !== "false") {
      throw unfitField("stream", "Cannot stream a stored response: Vis streams only new responses; omit stream");
    }
    const { parts } = c.env;
    const { branch, query } = await findResponse(parts, c.req.param("response"));
    const { queryId, createdAt: at } = query;
    const askedAs = AskedSchema.parse(await parts.conversations.records.askedAs(queryId) ?? {});
    const facts = { ...askedAs, queryId, at, conversationId: branch.branchId };
    const result = query.running ? null : resultOf(query);
    return c.json(responseObject(facts, { result, thinking: await thinkingOf(parts, queryId) }).response);
  },
);

function askedOf(
  { instructions, previous_response_id: previousId, metadata, text }: ResponseRequest,
): Omit<z.infer<typeof AskedSchema>, "model"> {
  const format = text?.format ?? null;
  return { instructions: instructions ?? null, previousId: previousId ?? null, metadata: metadata ?? {}, format };
}

async function messagesOf(parts: HttpParts, { input, instructions }: ResponseRequest) {
  const messages: OpenAiMessage[] = instructions ? [{ role: "developer", content: instructions }] : [];
  for (const item of typeof input === "string" ? [{ role: "user" as const, content: input }] : input) {
    if ("role" in item) messages.push(item);
    else if ("id" in item && !item.id.startsWith("rs_")) {
      messages.push({ role: "assistant", content: await answerOf(parts, item.id) });
    }
  }
  return messages;
}

async function targetOf(c: Context<Env>, body: ResponseRequest): Promise<AskTarget> {
  const { parts } = c.env;
  const { previous_response_id: previous } = body;
  if (!previous) return await openAiTarget(c, body);
  const { branch, query } = await findResponse(parts, previous);
  const last = (await parts.conversations.queries(branch)).at(-1);
  return last?.queryId === query.queryId ? branch : { queryId: query.queryId, position: null };
}

async function findResponse(
  { conversations }: Pick<HttpParts, "conversations">,
  id: string,
): Promise<{ readonly branch: Conversation; readonly query: StoredQuery }> {
  const query = await existing(`response ${id.slice(0, 100)}`, () => findAs("resp", { conversations, id }));
  return { branch: await conversations.byId(query.branchId), query };
}

async function answerOf({ conversations }: Pick<HttpParts, "conversations">, id: string): Promise<string> {
  const query = await findAs("msg", { conversations, id });
  if (query && !query.running) return query.answer;
  throw new Problem(
    `Cannot find item ${id.slice(0, 100)}: no complete answer has this id; send the text of the item instead`,
    {
      kind: "not-found",
      errors: [{ path: "input", message: "Unknown" }],
    },
  );
}

async function findAs(
  prefix: string,
  { conversations, id }: Pick<HttpParts, "conversations"> & { readonly id: string },
): Promise<StoredQuery | null> {
  const [given, queryId = ""] = id.split("_", 2);
  if (given !== prefix || !/^[0-9a-f-]{36}$/.test(queryId)) return null;
  return await conversations.records.query(queryId);
}

async function thinkingOf({ conversations }: Pick<HttpParts, "conversations">, queryId: string): Promise<string> {
  const thinkings = (await conversations.iterations(queryId)).map(({ thinking }) => thinking);
  return thinkings.filter((text) => text !== "").join("\n");
}

type Message = OpenAI.Responses.ResponseOutputMessage & { readonly content: [OpenAI.Responses.ResponseOutputText] };

type Given = "text" | "usage" | "metadata" | "store";
type OpenAiResponse =
  & Omit<OpenAI.Responses.Response, "output_text" | Given>
  & Readonly<Record<Given, unknown>>
  & Pick<QueryResult, "work">;

interface ResponseFacts extends z.infer<typeof AskedSchema> {
  readonly queryId: string;
  readonly conversationId: string;
  readonly at: number;
}

interface ResponseParts {
  readonly response: object;
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly message: Message | null;
}

function responseObject(
  facts: ResponseFacts,
  { result, thinking = "" }: { readonly result: QueryResult | null; readonly thinking?: string },
): ResponseParts {
  const failure = result && openAiFailure(result);
  // "Incomplete" means that a limit ended the query with its best answer so far.
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
    ...result?.work ? { work: result.work } : {},
  };
  return { response, status, message };
}

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

async function* responseEvents(
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

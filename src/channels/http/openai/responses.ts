import { type Context, Hono } from "hono";
import { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskTarget } from "../../../conversation/send_options.ts";
import { resultOf } from "../../../conversation/stored_events.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import type { Env, HttpParts } from "../env.ts";
import { Problem, unfitField } from "../problem.ts";
import { describeIn, EVENT_STREAM, existing, validJson, validQuery } from "../route.ts";
import type { Begun } from "../runs.ts";
import { ResponseSchema } from "./response_object.ts";
import { OPENAI_HEADERS, openAiAsk, openAiTarget, servedModel } from "./ask.ts";
import { MessageSchema, OpenAiBody, type OpenAiMessage } from "./input.ts";
import { AskedSchema, responseEvents, responseObject } from "./response_object.ts";

const describe = describeIn("openai");

/** Thinking of earlier responses that clients send back: the answer does not depend on it. */
const Reasoning = z.object({ type: z.literal("reasoning") });

/** An item of an earlier response, by its id instead of its text. Some clients omit the type. */
const Reference = z.object({ type: z.literal("item_reference").nullish(), id: z.string() });

const Item = z.union(
  [MessageSchema, Reasoning, Reference],
  "It must be a message, reasoning or a reference to an item: calls of tools and files are not supported",
);

const Format = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), schema: z.unknown().optional() }).loose(),
]);

/** Responses as OpenAI's clients request them. */
const ResponseBody = OpenAiBody.extend({
  model: z.string().nullish(),
  input: z.union([z.string(), z.array(Item).min(1)]),
  instructions: z.string().nullish().describe("For this query only"),
  text: z.object({ format: Format.nullish() }).nullish(),
  previous_response_id: z.string().nullish().describe(
    "The response to continue from; in a new branch if other responses already follow it",
  ),
  conversation: z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]).nullish().describe(
    "The conversation to continue",
  ),
  background: z.literal(false, "Wait for the response, or stream it").nullish(),
  prompt: z.null("Stored prompts are not supported").optional(),
});

type ResponseRequest = z.infer<typeof ResponseBody>;

/** The agent as a model for clients that use OpenAI's Responses API. */
export const responses = new Hono<Env>();

responses.post(
  "/responses",
  describe("openaiCreateResponse", "Run a query as a response; disconnecting cancels it", {
    scope: "write",
    headers: OPENAI_HEADERS,
    200: [ResponseSchema, EVENT_STREAM],
    errors: [409],
  }),
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
    if (stream !== "false") throw unfitField("stream", "Cannot stream a stored response: omit stream");
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

/** References to items of earlier responses become their texts. */
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

/** The branch that ends with the previous response, a branch that begins at it, or the named conversation. */
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
  const query = await existing(`response: ${id.slice(0, 100)}`, () => findAs("resp", { conversations, id }));
  return { branch: await conversations.byId(query.branchId), query };
}

/** The text of an earlier response's message. */
async function answerOf({ conversations }: Pick<HttpParts, "conversations">, id: string): Promise<string> {
  const query = await findAs("msg", { conversations, id });
  if (query && !query.running) return query.answer;
  throw new Problem(`Cannot find item: ${id.slice(0, 100)}; send its text instead`, {
    kind: "not-found",
    errors: [{ path: "input", message: "Unknown" }],
  });
}

/** The query that an id with this prefix refers to; null if there is none. */
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

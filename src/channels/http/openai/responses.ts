import { type Context, Hono } from "hono";
import { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { AskTarget } from "../../../conversation/send_options.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import { describeIn, EVENT_STREAM } from "../request/describe.ts";
import type { Env } from "../request/env.ts";
import { existing } from "../request/in_conversation.ts";
import { validJson, validQuery } from "../request/valid.ts";
import { Problem, unfitField } from "../response/problem.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import type { Begun } from "../stream/run.ts";
import { resultOf } from "../../../conversation/stored_events.ts";
import { ResponseSchema } from "./answers.ts";
import { OPENAI_HEADERS, openAiAsk, openAiTarget } from "./ask.ts";
import type { OpenAiMessage } from "./input.ts";
import { servedModel } from "./models.ts";
import { responseEvents } from "./response_events.ts";
import { AskedSchema, responseObject } from "./response_object.ts";
import { ResponseBody, type ResponseRequest } from "./responses_request.ts";

const describe = describeIn("openai");

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

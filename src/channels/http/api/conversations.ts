import { Hono } from "hono";
import { z } from "zod";
import { BusyError } from "../../../domain/errors.ts";
import type { Exported } from "../../../conversation/exported.ts";
import { describeIn } from "../request/describe.ts";
import type { Env } from "../request/env.ts";
import { findQuery, inConversation } from "../request/in_conversation.ts";
import { validJson, validQuery } from "../request/valid.ts";
import { Problem } from "../response/problem.ts";
import { withAnswerTrees } from "./answer_trees.ts";
import { ifMatch, taggedDetail } from "./conversation_detail.ts";
import * as schema from "./schemas.ts";

/** The default of the schema: the first request becomes the title. */
const UNTITLED = "New conversation";
const BASE = "/api/v1/conversations";
const MATCH = { "If-Match": "ETag of the conversation as it was read; 412 if it has changed since" };
const MAX_TREES = 100;
const EXPORTED = { json: "application/json", md: "text/markdown", html: "text/html" };
/** After this time a server with many exports under way has probably finished one. */
const RETRY_SECONDS = "10";
const describe = describeIn("conversations");

/** Conversations and their branches. */
export const conversations = new Hono<Env>();

conversations.get(
  "/",
  describe("listConversations", "List conversations, most recently used first", { 200: schema.ConversationListSchema }),
  validQuery(schema.PageQuery),
  async (c) => {
    const { limit, cursor } = c.req.valid("query");
    const found = await c.env.parts.conversations.list({ limit: limit + 1, after: cursor });
    const items = found.slice(0, limit);
    const next = found.length > limit ? String(items.at(-1)?.place) : null;
    return c.json(schema.ConversationListSchema.parse({ items, next }));
  },
);

conversations.post(
  "/",
  describe("createConversation", "Create a conversation in a workspace of the server", {
    scope: "write",
    201: schema.ConversationSchema,
  }),
  validJson(schema.NewConversationBody),
  async (c) => {
    const { workspaces = [], workspace: usual } = c.env.parts;
    const { title, workspace = usual } = c.req.valid("json");
    if (workspace !== usual && !workspaces.includes(workspace)) {
      throw new Problem(`Cannot use workspace ${workspace.slice(0, 200)}: it is not one of the server's`, {
        kind: "bad-request",
      });
    }
    const untitled = title === UNTITLED;
    const made = await c.env.parts.conversations.create({ title, channel: "http", workspace, untitled });
    return c.json(schema.ConversationSchema.parse(made), 201, { location: `${BASE}/${made.conversationId}` });
  },
);

conversations.get(
  "/:id",
  describe("getConversation", "Get a conversation and its branches", { 200: schema.ConversationDetailSchema }),
  inConversation,
  async (c) => {
    const { detail, etag } = await taggedDetail(c, c.var.conversation);
    return c.json(detail, 200, { etag });
  },
);

conversations.patch(
  "/:id",
  describe("renameConversation", "Rename the branch", {
    scope: "write",
    headers: MATCH,
    200: schema.ConversationDetailSchema,
    errors: [412],
  }),
  validJson(schema.RenameBody),
  ifMatch,
  async (c) => {
    const { conversation } = c.var;
    const title = await c.env.parts.conversations.records.rename(conversation, c.req.valid("json").title);
    const { detail, etag } = await taggedDetail(c, { ...conversation, title });
    return c.json(detail, 200, { etag });
  },
);

conversations.delete(
  "/:id",
  describe("deleteConversation", "Delete the conversation with all its branches; 409 while a query is running", {
    scope: "admin",
    headers: MATCH,
    204: [],
    errors: [409, 412],
  }),
  ifMatch,
  async (c) => {
    await c.env.parts.conversations.delete(c.var.conversation);
    return c.body(null, 204);
  },
);

conversations.get(
  "/:id/queries",
  describe("listQueries", "List the queries of a branch with their answers, oldest first", {
    200: schema.QueryListSchema,
  }),
  validQuery(schema.QueriesQuery),
  inConversation,
  async (c) => {
    const { before, limit, answers } = c.req.valid("query");
    const found = (await c.env.parts.conversations.queries(c.var.conversation)).slice(0, before);
    const from = Math.max(0, found.length - (answers === "tree" ? Math.min(limit, MAX_TREES) : limit));
    const items = found.slice(from);
    return c.json({ items: answers === "tree" ? await withAnswerTrees(items) : items, before: from });
  },
);

conversations.post(
  "/:id/fork",
  describe(
    "forkConversation",
    "Create a branch that continues from an earlier point; its branchId can be used as a conversation id",
    { scope: "write", 201: schema.ConversationSchema },
  ),
  validJson(schema.ForkBody),
  inConversation,
  async (c) => {
    const { queryId, iteration, title } = c.req.valid("json");
    await findQuery(c, queryId);
    const position = iteration === undefined ? null : iteration - 1;
    const made = await c.env.parts.conversations.fork({ queryId, position, ...(title === undefined ? {} : { title }) });
    return c.json(schema.ConversationSchema.parse(made), 201, { location: `${BASE}/${made.branchId}` });
  },
);

conversations.post(
  "/:id/cancel",
  describe("cancel", "Cancel what this server and its nodes run in the conversation; completed steps are kept", {
    scope: "write",
    200: z.object({ cancelled: z.number().int() }),
  }),
  inConversation,
  async (c) => c.json({ cancelled: await c.env.runs.cancel(c.var.conversation.conversationId) }),
);

conversations.get(
  "/:id/export",
  describe("exportConversation", "Export the conversation as an archive, or the branch as Markdown or HTML", {
    200: Object.values(EXPORTED),
  }),
  validQuery(schema.ExportQuery),
  inConversation,
  async (c) => {
    const { format } = c.req.valid("query");
    const { conversation } = c.var;
    const { conversations } = c.env.parts;
    const { method, signal } = c.req.raw;
    const made = await conversations.exports.make(conversation, { conversations, format, signal }).catch((error) => {
      if (!(error instanceof BusyError)) throw error;
      throw new Problem(error.message, { kind: "unavailable", headers: { "retry-after": RETRY_SECONDS } });
    });
    const headers = {
      "content-type": `${EXPORTED[format]}; charset=utf-8`,
      "content-length": String(made.bytes),
      "content-disposition": `attachment; filename="vis-${conversation.conversationId}.${format}"`,
    };
    if (method !== "HEAD") return c.body(bodyOf(made), 200, headers);
    await made[Symbol.asyncDispose]();
    return c.body(null, 200, headers);
  },
);

/** The export goes when it was read, or when its reader leaves. */
function bodyOf(made: Exported): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = made.pieces()[Symbol.asyncIterator]();
  return new ReadableStream({
    pull: async (controller) => {
      const { done, value } = await pieces.next();
      if (!done) return controller.enqueue(value);
      await made[Symbol.asyncDispose]();
      controller.close();
    },
    cancel: () => made[Symbol.asyncDispose](),
  }, { highWaterMark: 1 });
}

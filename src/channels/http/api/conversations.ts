import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { z } from "zod";
import type { Conversation, Conversations } from "../../../conversation/conversations.ts";
import type { Exported } from "../../../conversation/export/exports.ts";
import { BusyError } from "../../../domain/errors.ts";
import { Semaphore } from "../../../domain/kit/concurrency.ts";
import { oneLine, visibleText } from "../../../domain/kit/text.ts";
import { undoCuts, undoFault, undoneQueries, type UndoReport, withMoves } from "../../../domain/undo.ts";
import { hasMarkdown, type MarkdownBlock } from "../../../markdown/tree.ts";
import type { Env } from "../http_parts.ts";
import { Problem } from "../problem.ts";
import { describeIn, findQuery, inConversation, isServed, servedWorkspace, validJson, validQuery } from "../route.ts";
import { ConversationDetailSchema } from "./schemas.ts";
import * as schema from "./schemas.ts";

const UNTITLED = "New conversation";
const BASE = "/api/v1/conversations";
const MATCH = { "If-Match": "ETag of the conversation as it was read; 412 if it has changed since" };
const MAX_TREES = 100, TITLE_CHARS = 100;
const EXPORTED = { json: "application/json", md: "text/markdown", html: "text/html" };
const RETRY_SECONDS = "10";
const NONE = "Cannot undo changes: the workspaces of this server are read-only; vis serve --writable allows changes";
const UNRECORDED =
  "Cannot undo changes: the extension that records file changes is not loaded; vis extensions list shows why";
const notServed = ({ workspace }: Pick<Conversation, "workspace">): string =>
  `Cannot undo changes: this server does not serve ${workspace}; run vis serve there, or add it to server.workspaces`;
const REST = '"rest": true';
const CHANGES = new Semaphore();
const describe = describeIn("conversations");

/** These changes run one at a time, so that two of them cannot both match the same tag. */
const ifMatch = createMiddleware<Env>((c, next) =>
  CHANGES.run(() =>
    inConversation(c, async () => {
      const wanted = c.req.header("if-match") ?? "*";
      if (wanted === "*") return await next();
      const { etag } = await taggedDetail(c, c.var.conversation);
      if (wanted.split(",").some((one) => one.trim() === etag)) return await next();
      throw new Problem(
        `Cannot change conversation ${c.var.conversation.conversationId}: If-Match does not have its current ETag; ` +
          "read the conversation again",
        {
          kind: "changed",
          headers: { etag },
        },
      );
    })
  )
);

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
    const { title, workspace: asked } = c.req.valid("json");
    const workspace = servedWorkspace(c.env.parts, asked);
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
  describe("renameConversation", "Rename the branch, and branches with the same title that have not been renamed", {
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
    "Create a branch that continues from an earlier point; the branchId also serves as a conversation id",
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
  describe(
    "cancel",
    "Cancel the running queries of the conversation, in all branches and processes; completed iterations stay",
    {
      scope: "write",
      200: z.object({ cancelled: z.number().int() }),
    },
  ),
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

conversations.get(
  "/:id/undo",
  describe(
    "previewUndo",
    "Show the last file changes of one query that undo can revert, and the files that redo would change",
    {
      200: schema.UndoPreviewSchema,
    },
  ),
  inConversation,
  async (c) => {
    const { conversation } = c.var;
    const { conversations } = c.env.parts, isOwn = isServed(c.env.parts, conversation);
    const undo = isOwn ? c.env.parts.undo : undefined;
    const cuts = undo ? await undoCuts(conversations, conversation) : {};
    const report: UndoReport = await undo?.(conversation, { dryRun: true, rest: true, ...cuts }) ??
      { error: undo ? UNRECORDED : isOwn ? NONE : notServed(conversation) };
    const { changes = [], files = [], folders = [], kept = [] } = report;
    const { changes: [last] = [] } = await undo?.(conversation, { dryRun: true, redo: true, rest: true, ...cuts }) ??
      {};
    const isLast = last !== undefined && changes.every(({ at }) => at < last.at);
    const { paths: undone, queryId: undoneQueryId } = isLast ? last : { paths: [], queryId: null };
    const listed = await undo?.(conversation, { list: true }) ?? {};
    const diffs = withMoves(new Map(files.map(({ path, diff }) => [path, diff])));
    const preview = {
      ...{
        changes,
        files: files.map(({ path }) => ({ path, diff: diffs.get(path) ?? "" })),
        folders,
        kept,
        fault: undoFault(report, { rest: REST }),
        undone,
        undoneQueryId,
      },
      undoneQueries: undoneQueries(listed),
    };
    return c.json(schema.UndoPreviewSchema.parse(preview));
  },
);

conversations.post(
  "/:id/undo",
  describe(
    "undo",
    "Undo file changes. If a file has later changes or went into a git commit, undo nothing, or with rest the changes of the other files. Changes that are already undone stay undone. With redo, reapply the last undo",
    {
      scope: "write",
      200: schema.UndoSchema,
      errors: [409],
    },
  ),
  validJson(schema.UndoBody),
  inConversation,
  async (c) => {
    const { conversation } = c.var;
    const { conversationId } = conversation;
    const { changes: named, redo, rest } = c.req.valid("json");
    const running = await c.env.parts.conversations.records.running(conversationId);
    if (running !== null) {
      throw new BusyError(
        `Cannot ${redo ? "redo" : "undo"} changes of conversation ${conversationId}: a query is running in it; ` +
          "wait until it ends, or cancel it",
      );
    }
    const wanted = { ...(rest ? { rest } : {}), ...redo ? { redo } : { changes: named?.join(",") ?? "" } };
    servedWorkspace(c.env.parts, conversation.workspace);
    const { conversations, undo } = c.env.parts;
    const cuts = undo ? await undoCuts(conversations, conversation) : {};
    const report = await undo?.(conversation, { ...wanted, ...cuts });
    if (!report) throw new Problem(undo ? UNRECORDED : NONE, { kind: "not-found" });
    const { changes = [], files = [], folders = [], kept = [] } = report;
    const fault = undoFault(report, { redo: redo === true, rest: REST });
    if (fault !== null) throw new Problem(fault, { kind: "changed", status: 409 });
    return c.json(schema.UndoSchema.parse({ changes, files, folders, kept }));
  },
);

interface TaggedDetail {
  readonly detail: z.infer<typeof ConversationDetailSchema>;
  readonly etag: string;
}

async function taggedDetail(c: Context<Env>, conversation: Conversation): Promise<TaggedDetail> {
  const { conversations } = c.env.parts;
  const { conversationId } = conversation;
  const branches = await Promise.all(
    (await conversations.branches(conversationId)).map(async (branch) => ({
      ...branch,
      last: branch.queries === 0 ? null : await newestQuery(conversations, branch),
    })),
  );
  const running = await conversations.records.running(conversationId);
  const runningElsewhere = running !== null && !await c.env.runs.runsIn(conversationId);
  const plan = await conversations.records.plan(conversation);
  const detail = ConversationDetailSchema.parse({ ...conversation, running, runningElsewhere, branches, plan });
  const digest = createHash("sha256").update(JSON.stringify(detail)).digest("base64url");
  return { detail, etag: `"${digest.slice(0, 22)}"` };
}

async function newestQuery(conversations: Conversations, branch: Conversation) {
  const [found] = await conversations.queries(branch, { newest: 1 });
  return found ? { text: oneLine(found.text, TITLE_CHARS), createdAt: found.createdAt } : null;
}

interface Answered {
  readonly answer: string;
  readonly answerType: string;
}

async function withAnswerTrees<T extends Answered>(
  queries: readonly T[],
): Promise<readonly (T & { readonly answerTree: readonly MarkdownBlock[] | null })[]> {
  const { parseMarkdown } = await import("../../../markdown/parse_markdown.ts");
  const found = [];
  for (const query of queries) {
    const { answer, answerType } = query;
    const isMarkdown = answer.length <= schema.MAX_TREE_CHARS && (answerType === "markdown" || hasMarkdown(answer));
    if (isMarkdown) await nextTurn();
    found.push({ ...query, answerTree: isMarkdown ? parseMarkdown(answer, { clean: visibleText }) : null });
  }
  return found;
}

function bodyOf(made: Exported): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces = made.pieces()[Symbol.asyncIterator]();
  return new ReadableStream({
    pull: async (controller) => {
      let isOver = true;
      try {
        const { done = false, value } = await pieces.next();
        isOver = done;
        if (!done) controller.enqueue(value);
      } finally {
        if (isOver) await made[Symbol.asyncDispose]();
      }
      if (isOver) controller.close();
    },
    cancel: () => made[Symbol.asyncDispose](),
  }, { highWaterMark: 1 });
}

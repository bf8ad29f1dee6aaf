import { type Context, Hono } from "hono";
import { z } from "zod";
import { readImage } from "../../../domain/images.ts";
import { settledWithin } from "../../../domain/kit/concurrency.ts";
import { visibleText } from "../../../domain/kit/text.ts";
import { SearchHitSchema } from "../../search_hit_schema.ts";
import type { Env, HttpParts, SuggestionPlace } from "../http_parts.ts";
import { Problem } from "../problem.ts";
import { describeIn, findConversation, inConversation, servedWorkspace, validJson, validQuery } from "../route.ts";
import * as schema from "./schemas.ts";

type PreviewTarget = Parameters<HttpParts["conversations"]["preview"]>[1];

const describe = describeIn("server");

export const server = new Hono<Env>();

server.get(
  "/",
  describe("about", "Get version, model, workspaces and limits of the server", { 200: schema.ServerSchema }),
  ({ env: { parts: { version, provider, model, workspace, workspaces = [], budget } }, json }) => {
    const { iterations = null, costUsd = null, wallMs = null } = budget ?? {};
    return json({
      ...{ version, provider, model, workspace },
      workspaces: [...new Set([workspace, ...workspaces])],
      limits: { maxIterations: iterations, maxCostUsd: costUsd, timeoutMs: wallMs },
    });
  },
);

server.get(
  "/models",
  describe("listModels", "List the providers that queries use, and their models", { 200: schema.ModelListSchema }),
  async (c) => {
    const items = await c.env.parts.admin.models({ provider: null, signal: AbortSignal.timeout(20_000) });
    return c.json({ items });
  },
);

server.get(
  "/files",
  describe("findFiles", "Find files of a workspace by letters of their path, best first, at most 50", {
    200: schema.FileListSchema,
  }),
  validQuery(schema.FilesQuery),
  async (c) => {
    const { q, ...place } = c.req.valid("query");
    const { workspace } = await placeOf(c, place);
    return c.json({ items: await c.env.parts.suggestions.files(workspace, q) });
  },
);

server.get(
  "/prompts",
  describe(
    "listPrompts",
    "List the prompts of the user and of a workspace, and requests of extensions, such as skills; further words replace $ARGUMENTS in a text",
    {
      200: schema.PromptListSchema,
    },
  ),
  validQuery(schema.PlaceQuery),
  async (c) => {
    const prompts = await c.env.parts.suggestions.prompts(await placeOf(c, c.req.valid("query")));
    return c.json({ items: prompts.map(({ name, detail, text }) => ({ name, description: detail, text })) });
  },
);

server.post(
  "/markdown",
  describe("readMarkdown", "Parse texts in Markdown, such as parts of a draft, and get trees without markup", {
    200: schema.MarkdownSchema,
  }),
  validJson(schema.MarkdownBody),
  async (c) => {
    const { parseMarkdown } = await import("../../../markdown/parse_markdown.ts");
    const { texts } = c.req.valid("json");
    return c.json({ trees: texts.map((text) => parseMarkdown(text, { clean: visibleText })) });
  },
);

async function placeOf(
  { env: { parts }, var: { caller } }: Context<Env>,
  { conversation, workspace }: z.infer<typeof schema.PlaceQuery>,
): Promise<SuggestionPlace> {
  if (conversation !== undefined) {
    const found = await findConversation(parts.conversations, conversation);
    servedWorkspace(parts, found.workspace);
    return found;
  }
  return { workspace: servedWorkspace(parts, workspace), tenant: caller.tenant };
}

server.get(
  "/extensions",
  describe(
    "listExtensions",
    "List the extensions of the workspace, with a reason for each extension that is not loaded",
    {
      200: schema.ExtensionListSchema,
    },
  ),
  async (c) => c.json(schema.ExtensionListSchema.parse({ items: await c.env.parts.extensions.list() })),
);

server.get(
  "/tokens",
  describe(
    "listTokens",
    "List the names of tokens with scope, quota and usage of today, without the tokens themselves",
    { scope: "admin", 200: schema.TokenListSchema },
  ),
  async (c) => {
    const grants = await c.env.parts.tokens.grants();
    const items = grants.map((grant) => {
      return { ...grant, tenant: grant.all ? "*" : grant.tenant, today: c.env.runs.used(grant) };
    });
    return c.json(schema.TokenListSchema.parse({ items }));
  },
);

const PREVIEW = "Preview the messages that a request would send; sends and stores nothing";

server.post(
  "/prompt",
  describe("previewPrompt", PREVIEW, { 200: schema.MessagesSchema }),
  validJson(schema.PromptBody),
  (c) => preview(c, { body: c.req.valid("json"), target: { workspace: c.env.parts.workspace } }),
);

server.post(
  "/conversations/:id/prompt",
  describe("previewPromptIn", PREVIEW, { 200: schema.MessagesSchema }),
  validJson(schema.PromptBody),
  inConversation,
  (c) => preview(c, { body: c.req.valid("json"), target: { branch: c.var.conversation } }),
);

async function preview(
  c: Context<Env>,
  { body, target }: { readonly body: z.infer<typeof schema.PromptBody>; readonly target: PreviewTarget },
): Promise<Response> {
  const { request, images = [], responseSchema } = body;
  if ("branch" in target) servedWorkspace(c.env.parts, target.branch.workspace);
  const messages = await c.env.parts.conversations.preview(request, target, {
    images: images.map((image, at) => readImage(image, `${at + 1}`)),
    responseSchema,
  });
  return c.json({ messages: messages.map(({ role, text }) => ({ role, text })) });
}

server.get(
  "/search",
  describeIn("conversations")(
    "search",
    "Find requests, code and answers that contain all words, best matches first, or newest first if all words are in a script such as Chinese or Korean. [ and ] enclose matches",
    { 200: schema.listOf(SearchHitSchema) },
  ),
  validQuery(schema.SearchQuery),
  async (c) => {
    const { q, conversation: id, ...filter } = c.req.valid("query");
    const { conversations } = c.env.parts;
    const within = id === undefined ? undefined : await findConversation(conversations, id);
    const conversationId = within?.conversationId;
    return c.json({ items: await conversations.stored.search(q, { ...filter, conversationId }) });
  },
);

export const metricsRoute = new Hono<Env>().get(
  "/metrics",
  describe("metrics", "Get the metrics of the server in the Prometheus text format", { 200: "text/plain" }),
  async (c) => {
    const text = await c.env.metrics.text(c.var.caller, c.env.runs.running(c.var.caller));
    return c.body(text, 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  },
);

const StatusSchema = z.object({ status: z.literal("ok") });
const ReadySchema = StatusSchema.extend({
  checks: z.record(z.string(), z.literal("ok")),
  warnings: z.record(z.string(), z.string()).optional().describe("Faults that do not prevent requests"),
});

const describeOperation = describeIn("operations");
const READ_MS = 5_000;

export const operations = new Hono<Env>();

operations.get(
  "/healthz",
  describeOperation("health", "Liveness: the process responds", { scope: null, 200: StatusSchema }),
  (c) => c.json({ status: "ok" }),
);

operations.get(
  "/readyz",
  describeOperation(
    "readiness",
    "Readiness: the database responds, and a sandbox starts. With SQLite, Vis can also write the file, and the disk has at least 64 MiB free",
    {
      scope: null,
      200: ReadySchema,
    },
  ),
  async (c) => {
    const { parts, runs } = c.env;
    if (runs.closing) {
      throw new Problem("Cannot run requests: the server is shutting down; try again later", { kind: "unavailable" });
    }
    const read = parts.conversations.list({ limit: 1 });
    const [isRead, found = {}] = await Promise.all([settledWithin(read, READ_MS), parts.ready?.()]);
    if (isRead) await read;
    else {
      throw new Problem(
        `Cannot run requests: the database did not answer within ${READ_MS / 1000} s; try again later`,
        {
          kind: "unavailable",
        },
      );
    }
    const errors = Object.entries(found).filter(([, fault]) => fault !== "")
      .map(([path, message]) => ({ path, message }));
    const [first] = errors;
    if (first) {
      throw new Problem(`Cannot run requests: the check of ${first.path} failed; the field errors has the reason`, {
        kind: "unavailable",
        errors,
      });
    }
    const tokens = await parts.tokens.fault?.() ?? "";
    return c.json({
      status: "ok",
      ...(tokens === "" ? {} : { warnings: { tokens } }),
      checks: Object.fromEntries(["database", ...Object.keys(found)].map((name) => [name, "ok"])),
    });
  },
);

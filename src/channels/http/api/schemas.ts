import { z } from "zod";
import { ExtensionSchema } from "../../schemas/extension_schema.ts";
import { QueryResultSchema } from "../../schemas/query_result_schema.ts";

/** Shapes of the API as OpenAPI shows them. Requests are strict; responses may gain fields. */

const id = z.string().describe("UUIDv7; of a conversation its first 8 characters will do");
const time = z.number().int().describe("Milliseconds since the epoch");

export const QuerySchema = QueryResultSchema.omit({ value: true }).extend({
  status: z.enum(["done", "error", "interrupted", "running"]),
  reason: QueryResultSchema.shape.reason.nullable().describe("Why it ended; null while it runs"),
  answer: z.string().describe('Why there is no answer where there is none; "" while it runs'),
  text: z.string(),
  running: z.boolean().describe("In this server or in another process"),
  createdAt: time,
});

export const ConversationSchema = z.object({
  conversationId: z.string(),
  branchId: z.string(),
  title: z.string(),
  workspace: z.string(),
  createdAt: time,
});

export const ConversationListSchema = z.object({
  items: z.array(ConversationSchema.extend({ queries: z.number().int(), running: z.boolean() })),
  next: z.string().nullable().describe("Cursor of the next page, null at the end"),
});

export const ConversationDetailSchema = ConversationSchema.extend({
  running: z.string().nullable().describe("The query that runs in it now, in this server or in another process"),
  branches: z.array(z.object({
    branchId: z.string(),
    parentBranchId: z.string().nullable(),
    title: z.string(),
    queries: z.number().int(),
    createdAt: time,
  })),
});

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().max(200).optional().describe("The next of the page before"),
});

export const NewConversationBody = z.strictObject({ title: z.string().max(1000).default("New conversation") });

export const RenameBody = z.strictObject({ title: z.string().min(1).max(1000) });

export const ExportQuery = z.object({ format: z.enum(["json", "md", "html"]).default("json") });

export const SearchQuery = z.object({
  q: z.string().min(1).max(1000),
  conversation: z.string().optional(),
  kind: z.enum(["request", "code", "answer"]).optional(),
  since: z.coerce.number().int().optional(),
  until: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(200).default(20),
});

export const VersionsQuery = z.object({ newest: z.coerce.number().int().min(1).max(1000).default(50) });

export const IterationsQuery = z.object({
  after: z.coerce.number().int().min(0).default(0).describe("Those that come after this one (1-based)"),
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
});

export const QueriesQuery = z.object({
  before: z.coerce.number().int().min(0).optional().describe("The first so many; all of them where left out"),
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000).describe("The newest of those"),
});

export const GraphSchema = z.object({
  nodes: z.array(z.object({
    name: z.string(),
    kind: z.string(),
    scope: z.enum(["live", "forgotten", "system"]),
    versions: z.number().int(),
    shape: z.string(),
  })),
  edges: z.array(z.object({ name: z.string(), reads: z.string() })),
}).describe("Variables, and for each what the blocks that made it have read");

export const DiffQuery = z.object({
  from: z.coerce.number().int().min(1),
  to: z.coerce.number().int().min(1),
});

export const ForkBody = z.strictObject({
  queryId: id,
  iteration: z.number().int().min(0).optional().describe(
    "The last iteration (1-based) that the fork sees, 0 for the state before the query; all of them where left out",
  ),
  title: z.string().max(1000).optional(),
});

const maxIterations = z.number().int().min(1).max(1_000_000).optional().describe(
  "Iterations the query may use before it asks for more",
);

export const RetryBody = z.strictObject({ queryId: id, maxIterations });

export const MessageBody = z.strictObject({
  request: z.string().min(1),
  images: z.array(z.string()).max(20).optional().describe("http, https or base64 data URLs"),
  context: z.unknown().optional().describe("A text or any JSON that becomes the variable context"),
  responseSchema: z.unknown().optional().describe("A JSON Schema that the answer must satisfy"),
  maxIterations,
  whenBusy: z.enum(["refuse", "wait", "steer"]).default("refuse").describe(
    "While this server runs a query in it: answer 409, wait for its end, or give it this message as a note. A query of " +
      "another process is answered with 409",
  ),
  cancelOnDisconnect: z.boolean().optional().describe(
    "Whether leaving the call cancels its query; where it is left out, leaving the wait for a result does, unless the call has an Idempotency-Key, and leaving a stream does not",
  ),
});

export const SteeredSchema = z.object({ steered: z.literal(true) });

export const PromptBody = MessageBody.pick({ request: true, images: true, responseSchema: true });

export const MessagesSchema = z.object({
  messages: z.array(z.object({ role: z.string(), text: z.string() })),
});

export const ListedExtensionSchema = ExtensionSchema.omit({ path: true });

const limit = z.number().nullable();

export const TokenSchema = z.object({
  name: z.string(),
  scope: z.enum(["read", "write", "admin"]),
  expiresAt: time.nullable(),
  quota: z.object({ queriesPerDay: limit, costUsdPerDay: limit, concurrent: limit }).describe("Null: no limit"),
  today: z.object({ queries: z.number().int(), costUsd: z.number(), running: z.number().int() }).describe(
    "Since midnight UTC, and what runs now",
  ),
});

export const IterationSchema = z.object({
  iteration: z.number().int().describe("1-based"),
  status: z.string(),
  thinking: z.string(),
  response: z.string(),
  error: z.string().nullable(),
  blocks: z.array(z.object({ code: z.string(), result: z.unknown(), reads: z.array(z.string()) })),
  traces: z.array(z.unknown()).describe("Every attempt at its model call"),
  metadata: z.record(z.string(), z.unknown()),
  createdAt: time,
});

export const VariableSchema = z.object({
  name: z.string(),
  kind: z.string(),
  versions: z.number().int(),
  scope: z.enum(["live", "forgotten", "system"]),
  summary: z.object({}).loose(),
  reason: z.string(),
  code: z.string(),
  createdAt: time,
});

export const VersionSchema = z.object({
  version: z.number().int(),
  kind: z.string(),
  shape: z.string(),
  reason: z.string(),
  value: z.string().nullable().describe("As text, at most its first 20000 characters; null where it is too large"),
  chars: z.number().int().nullable().describe("Of the whole value"),
  code: z.string(),
  createdAt: time,
});

export const ProblemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  instance: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
}).describe("Problem details (RFC 9457)");

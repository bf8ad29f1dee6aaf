import { z } from "zod";
import { DECISIONS } from "../../../domain/query/outcomes.ts";
import { ApprovalQuestionSchema, PlanItemSchema, QueryResultSchema } from "../../../domain/query/query_schemas.ts";
import { ExtensionSchema } from "../../../domain/admin_reports.ts";

const id = z.string().describe("Whole id of a query (UUIDv7)");
const time = z.number().int().describe("Time in milliseconds since the epoch");

export function listOf<T extends z.ZodType>(item: T): z.ZodObject<{ items: z.ZodArray<T> }> {
  return z.object({ items: z.array(item) });
}

export const QuerySchema = QueryResultSchema.omit({ value: true }).extend({
  status: z.enum(["done", "error", "interrupted", "running"]),
  reason: QueryResultSchema.shape.reason.nullable().describe("Reason of the end; null while the query runs"),
  answer: z.string().describe(
    'The answer, or the reason why it is missing; "" while the query runs, and of a query that a fork cut',
  ),
  text: z.string(),
  images: z.number().int().optional().describe("Number of the images that the request has"),
  model: z.string().describe("The model of the query"),
  running: z.boolean().describe("Whether the query runs, in this server or in another process"),
  question: z.string().optional().describe(
    "The question of the query to the user, while the query waits for the answer",
  ),
  waiting: z.array(z.string()).optional().describe(
    "Messages of the user that wait for the next iteration of a running query, oldest first",
  ),
  createdAt: time,
  steered: z.array(z.object({ text: z.string(), iteration: z.number().int(), at: time })).describe(
    "Messages that the user sent while the query ran, each with the iteration (1-based) that showed the message to the model",
  ),
  forkedAt: time.optional().describe(
    "Start of the first iteration that is not shown; set if the branch is a fork that shows only a part of the query",
  ),
});

export const ConversationSchema = z.object({
  conversationId: z.string(),
  branchId: z.string(),
  title: z.string(),
  workspace: z.string(),
  tenant: z.string().describe("Tenant to which the conversation belongs"),
  createdAt: time,
});

export const ConversationListSchema = z.object({
  items: z.array(ConversationSchema.extend({
    queries: z.number().int(),
    running: z.boolean(),
    asks: z.boolean().describe("Whether a running query waits for an answer to a question"),
    activeAt: time.describe(
      "Start of the newest run in any branch, or the creation of a newer branch, in milliseconds since the epoch",
    ),
  })),
  next: z.string().nullable().describe("Cursor of the next page; null at the end"),
});

export const ConversationDetailSchema = ConversationSchema.extend({
  running: z.string().nullable().describe("The running query, in this server or in another process"),
  runningElsewhere: z.boolean().describe(
    "Whether another process runs the query; steering, answers and cancellation reach it through the database",
  ),
  branches: z.array(
    ConversationSchema.pick({ branchId: true, title: true, createdAt: true }).extend({
      parentBranchId: z.string().nullable(),
      queries: z.number().int(),
      last: z.object({ text: z.string(), createdAt: time }).nullable()
        .describe(
          "Newest query of the branch, with the first 100 characters of the request; null for a branch without queries of its own",
        ),
    }),
  ),
  plan: z.object({ at: time, items: z.array(PlanItemSchema).readonly() }).nullable()
    .describe("The last list of tasks that the model kept, and the time of its last change; null without a list"),
});

/** Parsing blocks other requests, so a longer text gets no tree. */
export const MAX_TREE_CHARS = 30_000;

const MarkdownTreeSchema = z.array(z.object({ kind: z.string() }).loose()).readonly().describe(
  "The blocks of a text in Markdown: paragraph, heading, code, quote, list, table, rule. The blocks contain " +
    "no markup: HTML in them is text",
);

const AnswerTreeSchema = MarkdownTreeSchema.nullable().describe(
  "The blocks of an answer in Markdown. Null for any other answer, and for an answer of more than 30,000 characters",
);

export const QueryListSchema = z.object({
  items: z.array(QuerySchema.extend({ answerTree: AnswerTreeSchema.optional() })),
  before: z.number().int().describe(
    "Number of earlier queries. A call with this number in the parameter before returns the earlier queries",
  ),
});

export const ServerSchema = z.object({
  version: z.string(),
  provider: z.string(),
  model: z.string(),
  workspace: z.string().describe("The folder of new conversations"),
  workspaces: z.array(z.string()).describe("All folders that a new conversation may name, the default first"),
  limits: z.object({
    maxIterations: z.number().int().nullable().describe(
      "Number of iterations in the first budget of a query; Vis extends the budget while the query makes progress",
    ),
    maxCostUsd: z.number().nullable().describe("Maximum cost of a query in US dollars; null for no limit"),
    timeoutMs: z.number().nullable().describe("Longest time of a query in milliseconds; null for no limit"),
  }).describe("Limits of a query that sets none of its own"),
});

export const ModelListSchema = z.object({
  items: z.array(
    z.object({ provider: z.string(), source: z.string(), models: z.array(z.object({ name: z.string() }).loose()) })
      .loose(),
  ),
});

export const PlaceQuery = z.object({ conversation: z.string().optional(), workspace: z.string().optional() });

export const FilesQuery = PlaceQuery.extend({ q: z.string().max(1000).default("") });

export const FileListSchema = z.object({ items: z.array(z.string()) });

export const PromptListSchema = z.object({
  items: z.array(z.object({ name: z.string(), description: z.string(), text: z.string() })),
});

export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z.string().regex(/^\d{1,15}$/, "must be the value of next from a previous page").transform(Number)
    .optional()
    .describe("The value of next from the previous page"),
});

export const NewConversationBody = z.strictObject({
  title: z.string().max(1000).default("New conversation"),
  workspace: z.string().max(4096).optional().describe(
    "A workspace of the server; by default, the default workspace of the server",
  ),
});

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

export const VersionsQuery = z.object({
  newest: z.coerce.number().int().min(1).max(1000).default(50),
  version: z.coerce.number().int().min(1).optional()
    .describe(
      "Return only this version, with the first 1,000,000 characters of its value; the version must be one of the newest 1,000",
    ),
});

export const IterationsQuery = z.object({
  after: z.coerce.number().int().min(0).default(0).describe("Only iterations after this one (1-based)"),
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
});

export const QueriesQuery = z.object({
  before: z.coerce.number().int().min(0).optional().describe(
    "Return queries only from this number of oldest queries; by default, from all queries",
  ),
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000).describe(
    "Maximum number of queries in the response, which has the newest queries",
  ),
  answers: z.enum(["text", "tree"]).default("text").describe(
    "With tree, each query has answerTree, the blocks of its answer; at most 100 queries",
  ),
});

export const DiffQuery = z.object({
  from: z.coerce.number().int().min(1),
  to: z.coerce.number().int().min(1),
});

export const ForkBody = z.strictObject({
  queryId: id,
  iteration: z.number().int().min(0).optional().describe(
    "Last iteration (1-based) that the fork includes; 0 means the state before the query. By default, the fork includes all iterations",
  ),
  title: z.string().max(1000).optional(),
});

export const ChoicesSchema = z.object({
  reasoning: z.enum(["quick", "balanced", "deep"]).optional().describe(
    "Reasoning effort; by default, the model's own choice",
  ),
  maxIterations: z.number().int().min(1).max(1_000_000).optional().describe(
    "Number of iterations before the model must ask for more, without the first four iterations that have no result; this number does not grow automatically",
  ),
  model: z.string().min(1).max(200).optional().describe(
    'The model of the query, as "provider/name" or "name"; by default, the model of the server',
  ),
  maxCostUsd: z.number().positive().optional().describe(
    "Maximum cost in US dollars, at most the limit of the server; Vis then refuses models without a known price",
  ),
  timeoutMs: z.number().int().min(1).optional().describe(
    "Longest time in milliseconds, at most the limit of the server",
  ),
});

const approvals = z.enum(["ask", "never"]).default("never").describe(
  "Reaction to a call that needs an approval and has none. ask: wait for the answer of a client. never: refuse the call. In the locked profile, and if the setting approvals is never, Vis always refuses the call",
);

export const RetryBody = z.strictObject({
  queryId: id,
  more: z.boolean().optional().describe(
    "Instead of running the query again, continue it for up to ten more iterations. The query must be the last of its " +
      "branch, and must have ended at its limit of iterations or with an answer that does not satisfy the schema",
  ),
  ...ChoicesSchema.shape,
  approvals,
});

export const ApprovalListSchema = listOf(ApprovalQuestionSchema);

export const ApprovalBody = z.strictObject({
  decision: z.enum(DECISIONS).describe(
    "Allows the action once, for the conversation or for the workspace, or refuses the action",
  ),
  reason: z.string().max(1000).default("").describe("Reason of a refusal, for the model"),
});

export const CommandsQuery = z.object({
  chars: z.coerce.number().int().min(0).max(64_000).default(1_000).describe("Most characters of each output"),
});

export const BackgroundCommandSchema = z.object({
  id: z.string(),
  command: z.string(),
  startedAt: time,
  output: z.string().describe("End of the output, without the escape sequences of a terminal"),
});

export const MessageBody = z.strictObject({
  request: z.string().min(1),
  images: z.array(z.string()).max(20).optional().describe(
    "At most 20 images, each an http, https or base64 data URL; a data URL has at most 5 MB of image data, and " +
      "the whole body at most server.bodyMiB",
  ),
  context: z.unknown().optional().describe("Text or JSON that becomes the variable context"),
  responseSchema: z.unknown().optional().describe("A JSON Schema that the answer must satisfy"),
  ...ChoicesSchema.shape,
  plan: z.boolean().optional().describe(
    "Answer with a plan; Vis refuses calls that could change the workspace or a service",
  ),
  review: z.boolean().optional().describe(
    "Answer with a review of the subject of the request; Vis refuses calls that could change the workspace or a " +
      "service. With both plan and review, the response is 400",
  ),
  approvals,
  whenBusy: z.enum(["refuse", "wait", "steer"]).default("refuse").describe(
    "Behaviour if this server is running a query in the branch. refuse: the response is 409. wait: the message " +
      "waits for the end of that query. steer: that query gets the text as a note, and the response arrives when an iteration shows the text to the model. For a message with images, context, " +
      "a schema, limits, model, reasoning, plan or review, the response is 400; approvals has no effect on the running query. If another process is running the " +
      "query, the response for wait is 409, too",
  ),
  cancelOnDisconnect: z.boolean().optional().describe(
    "Whether disconnecting cancels the query. By default, disconnecting cancels the query if the client waits for a result without an Idempotency-Key, but not for a stream or whenBusy: steer",
  ),
});

const fileChanges = z.array(z.object({
  id: z.string(),
  at: time,
  queryId: z.string().nullable(),
  paths: z.array(z.string()).readonly(),
}));
const diffs = z.array(z.object({ path: z.string(), diff: z.string().describe("Unified diff") }));

export const UndoSchema = z.object({
  changes: fileChanges,
  files: diffs,
  folders: z.array(z.string()).describe("Folders that the undo makes or removes"),
  kept: z.array(z.object({ path: z.string(), reason: z.string() }))
    .describe(
      "Files that an undo with rest leaves unchanged, each with the reason, such as a later change of the file",
    ),
});

export const UndoPreviewSchema = UndoSchema.extend({
  files: diffs.describe("A moved file has its diff at the new path, and an empty diff at the old path"),
  fault: z.string().nullable().describe("Reason why Vis cannot undo a change; null if it can"),
  undone: z.array(z.string()).readonly().describe(
    "Files that redo would change: the files of the last undo, or no file if files were changed after the undo",
  ),
  undoneQueryId: z.string().nullable().describe(
    "The query that had changed the files in undone; null if no query did, or if undone is empty",
  ),
  undoneQueries: z.array(z.string()).readonly().describe("Queries whose file changes are all undone"),
});

export const UndoBody = z.strictObject({
  changes: z.array(z.string().regex(/^[0-9a-z]+-[0-9a-f]+$/)).min(1).max(1000).optional()
    .describe("Ids from the preview"),
  redo: z.literal(true).optional().describe("Reapply the last undo"),
  rest: z.boolean().optional().describe("Change the other files, if Vis cannot undo or redo the changes of all files"),
}).refine(({ changes, redo }) => (changes === undefined) !== (redo === undefined), "must have either changes or redo");

export const MarkdownBody = z.strictObject({
  texts: z.array(z.string()).min(1).max(10)
    .refine((texts) => texts.join("").length <= MAX_TREE_CHARS, "must have at most 30,000 characters in all"),
});

export const MarkdownSchema = z.object({ trees: z.array(MarkdownTreeSchema) });

export const SteeredSchema = z.object({ steered: z.literal(true) });

export const PromptBody = MessageBody.pick({ request: true, images: true, responseSchema: true });

export const MessagesSchema = z.object({
  messages: z.array(z.object({ role: z.string(), text: z.string() })),
});

/** The folders of the extensions are private to the operator. */
export const ExtensionListSchema = listOf(ExtensionSchema.omit({ path: true }));

const limit = z.number().nullable();

export const TokenListSchema = listOf(z.object({
  name: z.string(),
  scope: z.enum(["read", "write", "admin"]),
  tenant: z.string().describe("Tenant whose conversations the token reaches; * for every tenant"),
  expiresAt: time.nullable(),
  quota: z.object({ queriesPerDay: limit, costUsdPerDay: limit, concurrent: limit }).describe(
    "Limits of the token; null for no limit",
  ),
  today: z.object({ queries: z.number().int(), costUsd: z.number(), running: z.number().int() }).describe(
    "Usage since midnight UTC, and the number of running queries",
  ),
}));

export const IterationSchema = z.object({
  iteration: z.number().int().describe("1-based"),
  status: z.string(),
  thinking: z.string(),
  response: z.string(),
  error: z.string().nullable(),
  steered: z.array(z.string()).describe(
    "Messages that the user sent while the query ran, and that this iteration showed to the model",
  ),
  blocks: z.array(z.object({ code: z.string(), result: z.unknown(), reads: z.array(z.string()) })),
  traces: z.array(z.unknown()).describe("Attempts to call the model"),
  metadata: z.record(z.string(), z.unknown()),
  createdAt: time,
});

export const IterationListSchema = z.object({
  items: z.array(IterationSchema),
  next: z.number().int().nullable().describe("Value of after for the next page; null at the end"),
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

export const GraphSchema = z.object({
  nodes: z.array(
    VariableSchema.pick({ name: true, kind: true, scope: true, versions: true }).extend({ shape: z.string() }),
  ),
  edges: z.array(z.object({ name: z.string(), reads: z.string() })),
}).describe("Variables, each with the variables from which it was computed");

export const VersionSchema = VariableSchema.pick({ kind: true, reason: true, code: true, createdAt: true }).extend({
  version: z.number().int(),
  shape: z.string(),
  value: z.string().nullable().describe(
    "The beginning of the value as text: at most 20,000 characters, or 1,000,000 if the response has a single version. null for a value that is too large",
  ),
  chars: z.number().int().nullable().describe("Length of the whole value"),
});

export const VersionListSchema = z.object({ name: z.string(), items: z.array(VersionSchema) });

export const ProblemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  instance: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
}).describe("Problem details (RFC 9457)");

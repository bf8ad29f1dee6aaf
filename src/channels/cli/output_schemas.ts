import { z } from "zod";
import {
  BlockResultSchema,
  KeptRuleSchema,
  QueryEventSchema,
  QueryResultSchema,
} from "../../domain/query/query_schemas.ts";
import * as database from "../../domain/records/database_maintenance.ts";
import {
  ConfigTrustSchema,
  ExtensionCheckSchema,
  ExtensionSchema,
  ExtensionTrustSchema,
  KeyReportSchema,
  ModelsReportSchema,
  ProvidersReportSchema,
  RefreshReportSchema,
  SettingChangeSchema,
  SettingFactsSchema,
  VersionFactsSchema,
} from "../../domain/admin_reports.ts";
import { SearchHitSchema } from "../search_hit_schema.ts";

/** The key "run jsonl" has the schema of one line. A release may add fields, but does not remove a field or change its
 * meaning. */
export function outputSchemas(): Readonly<Record<string, object>> {
  const all = { ...queryOutputs, ...storedOutputs, ...setupOutputs };
  return Object.fromEntries(
    Object.entries(all).map(([name, schema]) => {
      const { $schema: _ofTheWhole, ...own } = z.toJSONSchema(schema, { io: "input", reused: "inline" });
      return [name, own];
    }),
  );
}

const count = z.number().int().min(0);
const time = z.number().int().describe("Time in milliseconds since the epoch");

const image = z.object({
  kind: z.string(),
  url: z.string().optional(),
  mediaType: z.string().optional(),
  bytes: count.optional(),
});

const iteration = z.object({
  iterationId: z.string(),
  number: count.describe("1-based"),
  status: z.enum(["done", "error", "interrupted", "running"]),
  outcome: z.string().describe(
    'executed, empty, failed, refused or final; "" for an iteration that runs or was interrupted',
  ),
  thinking: z.string(),
  nativeReasoning: z.string(),
  response: z.string().describe("The raw reply"),
  ending: z.enum(["cut", "broken"]).optional().describe(
    "Present if the reply ended early. cut: at the length limit of the model; broken: by the end of the connection",
  ),
  error: z.string().nullable(),
  notes: z.array(z.string()),
  budget: z.number().nullable(),
  blocks: z.array(z.object({ code: z.string(), result: BlockResultSchema, diffs: z.array(z.string()) })),
  calls: z.array(z.object({ prompt: z.string(), reply: z.string().nullable(), error: z.string().nullable() })),
  children: z.array(z.looseObject({})).describe("Sub-queries in the form of queries"),
});

const recordedQuery = QueryResultSchema.omit({ answerType: true, conversationId: true, value: true }).extend({
  status: z.enum(["done", "error", "interrupted", "running"]),
  reason: QueryResultSchema.shape.reason.nullable().describe("Reason of the end; null while the query runs"),
  text: z.string(),
  running: z.boolean(),
  createdAt: time,
  images: z.array(image),
  answerSchema: z.unknown().describe("JSON Schema that the answer had to satisfy, or null"),
  context: z.object({ label: z.string(), json: z.boolean() }).nullable(),
  iterations: z.array(iteration),
  steered: z.array(z.object({ text: z.string(), iteration: count.describe("1-based"), at: time })).describe(
    "Messages that the user sent while the query ran, each with the iteration that showed the message to the model",
  ),
});

const result = QueryResultSchema.extend({
  trace: recordedQuery.nullable().optional().describe("All iterations of the query, with --trace"),
}).describe("Result of a query");

const message = z.object({ role: z.string(), bytes: count, tokens: count, text: z.string() });

const LineSchema = z.union([
  QueryEventSchema,
  z.object({ type: z.literal("error"), error: z.object({ code: z.number().int(), message: z.string() }) }),
]);

const queryOutputs = {
  "run": result,
  "review": result.extend({
    value: result.shape.value.describe(
      "The findings as { findings: { file, line, severity, title, detail }[], summary }, or the JSON that satisfies --schema",
    ),
  }),
  "run jsonl": LineSchema,
  "review jsonl": LineSchema,
  "conversations retry": result,
  "conversations retry jsonl": LineSchema,
  "prompt": z.object({ bytes: count, tokens: count.describe("Estimated"), messages: z.array(message) }),
  "replay": z.object({
    conversationId: z.string(),
    provider: z.literal("replay"),
    same: z.boolean(),
    queries: z.array(z.object({
      query: count.describe("1-based"),
      request: z.string(),
      same: z.boolean(),
      differences: z.array(
        z.object({ place: z.string(), field: z.string(), recorded: z.string(), replayed: z.string() }),
      ),
    })),
  }),
} as const;

const branch = z.object({
  branchId: z.string(),
  parentBranchId: z.string().nullable(),
  fork: z.looseObject({}).nullable().describe("Point at which the branch leaves its parent"),
  title: z.string(),
  queries: count,
  createdAt: time,
});

const conversation = z.object({
  conversationId: z.string(),
  title: z.string(),
  workspace: z.string(),
  queries: count,
  running: z.boolean().describe("Whether any process runs a query in the conversation"),
  asks: z.boolean().describe("Whether a running query waits for an answer to a question"),
  createdAt: time,
  activeAt: time.describe("Start of the newest run in any branch, or the creation of a newer branch"),
  branches: z.array(branch),
});

const kind = z.string().describe("Kind, such as data, function, class, instance, lost or pending");

const head = z.object({
  name: z.string(),
  kind,
  versions: count,
  scope: z.enum(["live", "forgotten", "system"]),
  reason: z.string().describe('Reason why the value is lost, or why a new sandbox process will lose it; "" otherwise'),
  code: z.string().describe('Code of the block that set the value; "" if no block set it'),
  createdAt: time,
  declaration: z.string(),
  type: z.string(),
  size: z.number().nullable(),
  shape: z.string(),
  inline: z.string().nullable(),
  doc: z.string(),
});

const version = z.object({
  name: z.string(),
  version: count.describe("1-based"),
  kind,
  shape: z.string(),
  reason: z.string(),
  code: z.string(),
  createdAt: time,
  value: z.unknown().optional(),
  tooLarge: z.literal(true).optional().describe("Present instead of a value that is too large to show"),
});

const storedOutputs = {
  "conversations list": z.array(conversation),
  "conversations show": conversation.omit({ queries: true, running: true, asks: true, activeAt: true }).extend({
    branchId: z.string().describe("The branch that is shown"),
    queries: z.array(recordedQuery),
  }),
  "conversations fork": z.object({ conversationId: z.string(), branchId: z.string() }),
  "conversations import": z.object({
    conversationId: z.string(),
    ids: z.record(z.string(), z.string()).describe("Ids in the file and their new ids"),
  }),
  "vars": z.union([
    z.array(z.union([head, version])),
    z.looseObject({ name: z.string(), from: count, to: count, text: z.string() }),
  ]).describe("Variables; with names or --history, versions; with --diff, a comparison of two versions"),
  "undo": z.looseObject({
    error: z.looseObject({
      code: count,
      message: z.string(),
      reason: z.literal("files_changed").optional(),
      kept: z.array(z.object({ path: z.string(), reason: z.string() })).optional().describe(
        "Files that prevent the undo or redo; --rest changes the other files",
      ),
    }).optional().describe("Reason why no file was undone or redone"),
    changes: z.array(z.looseObject({
      id: z.string(),
      at: time,
      paths: z.array(z.string()),
      undone: z.boolean().optional().describe("With --list: whether the change is undone"),
      kept: z.array(z.string()).optional().describe("With --list: files that the undo of this change left unchanged"),
      committed: z.array(z.string()).optional().describe(
        "With --list: files of this change that are in a later git commit",
      ),
      blocked: z.array(z.object({ path: z.string(), reason: z.string() })).optional().describe(
        "With --list: other files of this change that an undo would leave unchanged, and why",
      ),
    })).optional(),
    files: z.array(z.looseObject({ path: z.string(), diff: z.string() })).optional(),
    kept: z.array(z.object({ path: z.string(), reason: z.string() })).optional()
      .describe(
        "With --rest or --force: files that the undo or redo left unchanged; the exit code is then 1",
      ),
  }),
  "search": z.array(SearchHitSchema),
  "logs jsonl": z.object({
    seq: count,
    at: time,
    level: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]),
    event: z.string(),
    data: z.record(z.string(), z.unknown()),
    conversationId: z.string().optional(),
    queryId: z.string().optional(),
    iterationId: z.string().optional(),
  }),
  "db backup": database.BackupSchema,
  "db restore": database.RestoreSchema,
  "db check": database.CheckSchema,
  "db stats": database.StatsSchema.extend({ visVersion: z.string() }),
  "db prune": database.PruneSchema,
  "db vacuum": database.VacuumSchema,
  "db copy": z.object({ from: z.string(), to: z.string(), rows: count, ms: z.number() }),
} as const;

const server = z.object({
  command: z.string().optional(),
  args: z.array(z.string()).optional(),
  url: z.string().optional(),
}).loose().describe("A server of the Model Context Protocol, as in the settings");

const folder = z.object({ folder: z.string() });

const setupOutputs = {
  "mcp add": server.extend({ name: z.string() }),
  "mcp list": z.record(z.string(), server).describe("Servers by name"),
  "mcp remove": z.object({ name: z.string(), path: z.string().describe("The settings file") }),
  "approvals list": z.array(KeptRuleSchema),
  "approvals remove": z.array(KeptRuleSchema),
  "providers": ProvidersReportSchema,
  "models": z.union([z.array(ModelsReportSchema), RefreshReportSchema]).describe(
    "The models of each provider; with --refresh, a report of the renewed data",
  ),
  "auth status": z.array(KeyReportSchema),
  "config list": z.array(SettingFactsSchema),
  "config get": z.unknown().describe("The value of the setting"),
  "config explain": SettingFactsSchema,
  "config set": SettingChangeSchema,
  "config unset": SettingChangeSchema,
  "config path": z.object({ path: z.string() }),
  "config schema": z.looseObject({}).describe("A JSON Schema"),
  "config trust": ConfigTrustSchema.nullable(),
  "extensions list": z.array(ExtensionSchema),
  "extensions show": ExtensionSchema.extend({
    text: z.string().describe("Text that the model reads about the extension"),
  }),
  "extensions check": z.array(ExtensionCheckSchema),
  "extensions test": z.array(ExtensionCheckSchema),
  "extensions new": folder,
  "extensions add": folder,
  "extensions remove": folder,
  "extensions trust": z.array(ExtensionTrustSchema),
  "doctor": z.array(z.object({
    name: z.string(),
    state: z.enum(["ok", "warn", "fail", "off"]).describe("off: not set up, which is not a fault"),
    found: z.string(),
    fix: z.string().describe('Suggested fix; "" if none is needed'),
  })),
  "version": VersionFactsSchema,
  "update": z.object({
    current: z.string(),
    compiled: z.boolean().describe("Whether this is the executable, which vis update can replace"),
    release: z.object({ version: z.string(), age: z.enum(["newer", "same", "older"]), changes: z.string() }).nullable(),
    installed: z.object({ path: z.string(), kept: z.string() }).nullable(),
  }),
  "error": z.object({ error: z.object({ code: count.describe("The exit code"), message: z.string() }) }).describe(
    "Output of a command with JSON output that ends with an error",
  ),
} as const;

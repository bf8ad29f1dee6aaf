import { z } from "zod";
import * as database from "../../../domain/records/database_maintenance.ts";
import { SearchHitSchema } from "../../schemas/search_hit_schema.ts";
import { recordedQuery } from "./query_outputs.ts";

const count = z.number().int().min(0);
const time = z.number().int().describe("Milliseconds since the epoch");

const branch = z.object({
  branchId: z.string(),
  parentBranchId: z.string().nullable(),
  fork: z.looseObject({}).nullable().describe("Where it branches off from its parent"),
  title: z.string(),
  queries: count,
  createdAt: time,
});

const conversation = z.object({
  conversationId: z.string(),
  title: z.string(),
  workspace: z.string(),
  queries: count,
  running: z.boolean().describe("Whether a query is running in it, in any process"),
  createdAt: time,
  branches: z.array(branch),
});

const kind = z.string().describe("data, function, class, instance, lost, pending and others");

const head = z.object({
  name: z.string(),
  kind,
  versions: count,
  scope: z.enum(["live", "forgotten", "system"]),
  reason: z.string().describe('Why it is lost; "" if it is not'),
  code: z.string().describe("The block that defined it"),
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

/** Output of commands about the database. */
export const storedOutputs = {
  "conversations list": z.array(conversation),
  "conversations show": conversation.omit({ queries: true, running: true }).extend({
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
    error: z.looseObject({ code: count, message: z.string(), reason: z.literal("files_changed").optional() }).optional()
      .describe("Why nothing was undone"),
    changes: z.array(z.looseObject({
      id: z.string(),
      at: time,
      paths: z.array(z.string()),
      undone: z.boolean().optional().describe("With --list"),
      kept: z.array(z.string()).optional().describe("With --list: files that its undo left as they were"),
    })).optional(),
    files: z.array(z.looseObject({ path: z.string(), diff: z.string() })).optional(),
    kept: z.array(z.object({ path: z.string(), reason: z.string() })).optional()
      .describe("Files that were left as they are, such as those that others changed since; the exit code is then 1"),
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

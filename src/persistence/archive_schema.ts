import { z } from "zod";
import { QUERY_REASONS } from "../domain/query/outcomes.ts";
import { toldOfCall } from "../domain/query/query_schemas.ts";
import { SYSTEM_VARIABLES } from "../domain/query/variable.ts";
import {
  ARCHIVED_TABLES,
  archivedColumns,
  type ArchivedRow,
  type ArchivedTable,
  columnsOf,
  type TableColumn,
} from "./tables.ts";

export const ARCHIVE_FORMAT = "vis conversation";
export const ARCHIVE_VERSION = 2;

const HASH = /^[0-9a-f]{64}$/;
const REFERENCE = /^sha256:[0-9a-f]{64}$/;
const NAME = /^[$_\p{ID_Start}][$\u200c\u200d\p{ID_Continue}]*$/u;
const ENDED = ["done", "error", "interrupted"] as const;
const LATEST = 253_402_300_799_999; // This is the last millisecond of the year 9999 (UTC).

const id = z.string().regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const time = z.int().min(0).max(LATEST);
const count = z.int().min(0).max(1e9);
const amount = z.number().min(0).max(1e15);
const text = z.union([z.string(), z.strictObject({ content: z.string().regex(HASH) })]);
const bytes = z.union([
  z.strictObject({ base64: z.base64().max(4096) }),
  z.strictObject({ content: z.string().regex(HASH) }),
]);
const flag = z.int().min(0).max(1);
const words = z.array(z.string());

const usage = z.looseObject({
  input: amount,
  output: amount,
  cached: amount,
  reasoning: amount,
  calls: amount,
  cacheWrite: amount.optional(),
  searches: amount.optional(),
  estimated: amount.optional(),
});

const mediaType = z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const image = z.union([
  z.strictObject({ url: z.string().max(8192).regex(/^https?:\/\//) }),
  z.strictObject({ mediaType, base64: z.base64().max(4096) }),
  z.strictObject({ mediaType, content: z.string().regex(REFERENCE) }),
]);

const runMetadata = z.looseObject({
  reason: z.enum(QUERY_REASONS),
  answer: z.string(),
  answerType: z.enum(["text", "markdown"]),
  confidence: z.enum(["high", "medium", "low"]).nullable(),
  iterations: count,
  usage,
  byModel: z.record(z.string(), usage),
  costUsd: amount.nullable(),
  ms: amount,
  notes: words,
  steered: z.array(z.looseObject({ text: z.string(), iteration: count, at: time })),
}).partial();

const trace = z.looseObject({
  provider: z.string(),
  model: z.string(),
  ok: z.boolean(),
  status: z.number().nullable(),
  error: z.string().nullable(),
  usage: usage.nullable(),
  costUsd: amount.nullable().optional(),
  ms: amount,
  repairs: words,
});

const blockMetadata = z.looseObject({
  index: count,
  ok: z.boolean(),
  outcome: z.enum(["value", "none", "error", "refused", "timeout", "killed", "memory", "cancelled"]),
  preview: z.string(),
  type: z.string(),
  size: amount.nullable(),
  dropped: amount,
  touched: words,
  pending: words,
  lost: words,
  timedOut: z.boolean(),
  repaired: z.string().nullable(),
  calls: z.array(z.looseObject({ name: z.string(), ms: amount, ok: z.boolean(), ...toldOfCall })),
  reads: words,
  defines: words,
  code: z.string().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  ms: amount.optional(),
});

const variableMetadata = z.looseObject({
  kind: z.enum(["data", "function", "class", "instance", "pending", "lost", "text"]),
  root: z.string().nullable(),
  source: z.string().optional(),
  requires: words,
  reason: z.string(),
  summary: z.looseObject({
    declaration: z.string(),
    type: z.string(),
    size: amount.nullable(),
    shape: z.string(),
    inline: z.string().nullable(),
    doc: z.string(),
  }),
  block: id.nullable(),
  order: count,
  large: z.string().regex(REFERENCE).optional(),
});

const blockError = z.looseObject({
  name: z.string(),
  message: z.string(),
  line: z.number().nullable(),
  column: z.number().nullable(),
  excerpt: z.string(),
  stack: z.string(),
}).partial();

const CELLS = {
  conversationSoul: { metadata: z.looseObject({ channel: z.string().max(200), workspace: z.string() }) },
  conversationState: {
    metadata: z.object({
      fork: z.object({ queryId: id, soulId: id, soulCreatedAt: time, position: z.int().min(-1).max(1e9) }).optional(),
      child: z.boolean().optional(),
      titledBy: z.enum(["nobody", "user", "model"]).optional(),
    }),
  },
  querySoul: {
    metadata: z.looseObject({
      query: z.string().optional(),
      images: z.array(image).max(20).optional(),
      answerSchema: z.string().optional(),
      askedAs: z.record(z.string(), z.unknown()).optional(),
    }),
  },
  queryState: { status: z.enum(ENDED), metadata: runMetadata },
  iteration: {
    status: z.enum(ENDED),
    llmTraces: z.array(trace).nullable(),
    llmReturnedEmptyExpressions: flag,
    metadata: z.looseObject({
      outcome: z.string(),
      notes: words,
      budget: z.number().nullable(),
      pendingBlocks: words,
    }).partial(),
  },
  expressionSoul: {
    name: z.union([z.enum(SYSTEM_VARIABLES), z.string().max(500).regex(NAME)]).nullable(),
    metadata: z.object({
      scope: z.literal("system").optional(),
      inheritedFrom: id.optional(),
      before: count.optional(),
      index: count.optional(),
    }),
  },
  expressionState: {
    success: flag,
    error: blockError.nullable(),
    metadata: z.union([blockMetadata, variableMetadata]),
  },
  expressionDependency: { metadata: z.object({ iteration: id.optional() }) },
  scopeChange: {},
  extensionState: {
    namespace: z.string().min(1).max(200),
    conversationStateId: id,
    key: z.string().min(1).max(200),
  },
  childBranch: { depth: z.int().min(1).max(1000) },
  subCall: { usage },
} satisfies { readonly [T in ArchivedTable]: { readonly [C in string]?: z.ZodType } };

/** An archive of an older Vis lacks newer columns, so a nullable cell may be missing. */
function cellOf({ kind, nullable, oneOf, atLeast = 0 }: TableColumn): z.ZodType {
  const cell = (): z.ZodType => {
    switch (kind) {
      case "id":
        return id;
      case "time":
        return time;
      case "integer":
        return z.int().min(atLeast).max(1e9);
      case "real":
        return amount;
      case "long":
        return text;
      case "bytes":
        return bytes;
      case "text":
      case "searched":
        return oneOf ? z.enum(oneOf) : z.string();
      default:
        throw new Error(`Cannot check a cell of kind ${kind}: src/persistence/archive_schema.ts has no schema for it`);
    }
  };
  return nullable ? cell().nullable().default(null) : cell();
}

function rowsOf(table: ArchivedTable): z.ZodType {
  const columns = columnsOf(table);
  const own: Readonly<Record<string, z.ZodType>> = CELLS[table];
  const cells = archivedColumns(table).map((name) => [name, own[name] ?? cellOf(columns[name] ?? { kind: "text" })]);
  const rows = z.array(z.strictObject(Object.fromEntries(cells)));
  return table === "conversationSoul" ? rows.length(1) : rows;
}

type Cells<T extends ArchivedTable> = Omit<
  ArchivedRow<T, string | { readonly content: string }, { readonly base64: string } | { readonly content: string }>,
  keyof typeof CELLS[T]
>;
type Rows = {
  [T in ArchivedTable]:
    (Cells<T> & { [C in keyof typeof CELLS[T]]: z.infer<Extract<typeof CELLS[T][C], z.ZodType>> })[];
};

const tables = z.strictObject(
  Object.fromEntries(ARCHIVED_TABLES.map((table) => [table, rowsOf(table)])),
) as unknown as z.ZodType<Rows>;

const content = z.union([
  z.strictObject({ sha256: z.string().regex(HASH), text: z.string() }),
  /** The base64 is an array, because JavaScript limits the length of a string. */
  z.strictObject({ sha256: z.string().regex(HASH), base64: z.array(z.string()) }),
]);

export const conversationArchive = z.strictObject({
  format: z.literal(ARCHIVE_FORMAT),
  version: z.literal(ARCHIVE_VERSION),
  tables,
  contents: z.array(content),
  sha256: z.string().regex(HASH).optional(),
});

export type ConversationArchive = z.infer<typeof conversationArchive>;

/** An export passes the format first, then each table with its rows, and then the contents. */
export type ArchivePart =
  | { readonly format: string; readonly version: number }
  | { readonly table: string }
  | { readonly row: Readonly<Record<string, unknown>> }
  /** The receiver may read `pieces` more than once. */
  | { readonly sha256: string; readonly pieces: () => AsyncIterable<Uint8Array> };

import { z } from "zod";
import { BlockResultSchema, QueryEventSchema, QueryResultSchema } from "../../../domain/query/query_schemas.ts";

const count = z.number().int().min(0);
const time = z.number().int().describe("Milliseconds since the epoch");

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
  outcome: z.string().describe('executed, empty, failed, refused, final; "" while unknown'),
  thinking: z.string(),
  nativeReasoning: z.string(),
  response: z.string().describe("The raw reply"),
  ending: z.enum(["cut", "broken"]).optional().describe(
    "cut: at the length limit of the model; broken: the connection ended",
  ),
  error: z.string().nullable(),
  notes: z.array(z.string()),
  budget: z.number().nullable(),
  blocks: z.array(z.object({ code: z.string(), result: BlockResultSchema, diffs: z.array(z.string()) })),
  calls: z.array(z.object({ prompt: z.string(), reply: z.string().nullable(), error: z.string().nullable() })),
  children: z.array(z.looseObject({})).describe("Child queries, each as a query"),
});

/** A recorded query, including its iterations. */
export const recordedQuery = QueryResultSchema.omit({ answerType: true, conversationId: true, value: true }).extend({
  status: z.enum(["done", "error", "interrupted", "running"]),
  reason: QueryResultSchema.shape.reason.nullable().describe("Why it ended; null while it runs"),
  text: z.string(),
  running: z.boolean(),
  createdAt: time,
  images: z.array(image),
  answerSchema: z.unknown().describe("JSON Schema that the answer had to satisfy, or null"),
  context: z.object({ label: z.string(), json: z.boolean() }).nullable(),
  iterations: z.array(iteration),
  steered: z.array(z.object({ text: z.string(), iteration: count.describe("1-based"), at: time })).describe(
    "Messages that the user sent while it ran, and the iteration that showed them to the model",
  ),
});

const result = QueryResultSchema.extend({
  trace: recordedQuery.nullable().optional().describe("Everything the query did, with --trace"),
}).describe("Result of a query");

const message = z.object({ role: z.string(), bytes: count, tokens: count, text: z.string() });

/** An event; or, as the last line, why the command failed. */
const LineSchema = z.union([
  QueryEventSchema,
  z.object({ type: z.literal("error"), error: z.object({ code: z.number().int(), message: z.string() }) }),
]);

/** Output of commands that run queries. A name that ends with "jsonl" describes each line. */
export const queryOutputs = {
  "run": result,
  "run jsonl": LineSchema,
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

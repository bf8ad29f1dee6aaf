import { z } from "zod";
import { QUERY_REASONS } from "../../../domain/query_result.ts";

const count = z.number().int().min(0);
const time = z.number().int().describe("Milliseconds since the epoch");

const EVENTS = [
  "started",
  "thinking",
  "code",
  "block_started",
  "block_finished",
  "host_call",
  "nudge",
  "usage",
  "iteration_finished",
  "answer_delta",
  "final",
  "failed",
  "cancelled",
] as const;

const usage = z.object({
  input: count,
  output: count,
  cached: count.describe("The part of input that came from a prefix cache"),
  cacheWrite: count.optional().describe("The part of input that was written to a cache"),
  reasoning: count.describe("The part of output that was reasoning of the model's own"),
  calls: count,
}).describe("Tokens as the provider counted them");

const block = z.object({
  ok: z.boolean(),
  outcome: z.enum(["value", "none", "error", "refused", "timeout", "killed", "memory", "cancelled"]),
  preview: z.string(),
  type: z.string(),
  size: z.number().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  dropped: count.describe("Characters of output that were not kept"),
  error: z.object({
    name: z.string(),
    message: z.string(),
    line: z.number().nullable(),
    column: z.number().nullable(),
    excerpt: z.string(),
    stack: z.string(),
  }).nullable(),
  defined: z.array(z.string()),
  touched: z.array(z.string()),
  pending: z.array(z.string()),
  lost: z.array(z.string()),
  ms: z.number(),
  timedOut: z.boolean(),
  repaired: z.string().nullable(),
  calls: z.array(z.object({ name: z.string(), ms: z.number(), ok: z.boolean() })),
}).describe("What became of one block");

const ended = {
  status: z.enum(["done", "error", "interrupted"]),
  reason: z.enum(QUERY_REASONS),
  answer: z.string().describe("Never empty; where there is no answer, why"),
  confidence: z.enum(["high", "medium", "low"]),
  queryId: z.string(),
  usage,
  costUsd: z.number().nullable().describe("Null where the price of the model is not known"),
  ms: z.number(),
  notes: z.array(z.string()),
};

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
  outcome: z.string().describe('executed, empty, failed, refused, final; "" while it is not known'),
  thinking: z.string(),
  nativeReasoning: z.string(),
  response: z.string().describe("The raw reply"),
  error: z.string().nullable(),
  notes: z.array(z.string()),
  budget: z.number().nullable(),
  blocks: z.array(z.object({ code: z.string(), result: block })),
  calls: z.array(z.object({ prompt: z.string(), reply: z.string().nullable(), error: z.string().nullable() })),
  children: z.array(z.looseObject({})).describe("Child queries, each as a query"),
});

/** A recorded query with its iterations. */
export const recordedQuery = z.object({
  ...ended,
  text: z.string(),
  running: z.boolean(),
  createdAt: time,
  images: z.array(image),
  answerSchema: z.unknown().describe("The JSON Schema that the answer had to satisfy, or null"),
  context: z.object({ label: z.string(), json: z.boolean() }).nullable(),
  iterations: z.array(iteration),
});

const result = z.object({
  ...ended,
  answerType: z.enum(["text", "markdown"]),
  conversationId: z.string(),
  iterations: count,
  value: z.unknown().optional().describe("The answer as data, with --schema"),
  trace: recordedQuery.nullable().optional().describe("All that the query did, with --trace"),
}).describe("What a query came to");

const event = z.looseObject({
  seq: z.number().int().min(1).describe("1-based and without gaps"),
  at: time,
  queryId: z.string(),
  parentQueryId: z.string().optional().describe("Of a child query: whose block started it"),
  iteration: z.number().int().nullable(),
  type: z.enum(EVENTS).describe("One of final, failed and cancelled is the last"),
  conversationId: z.string().optional(),
  request: z.string().optional(),
  model: z.string().optional(),
  delta: z.string().optional(),
  block: count.optional(),
  code: z.string().optional(),
  name: z.string().optional(),
  phase: z.enum(["start", "end"]).optional(),
  ms: z.number().optional(),
  ok: z.boolean().optional(),
  diffs: z.array(z.string()).optional().describe("How a call changed files: a unified diff each"),
  lines: z.array(z.string()).optional(),
  usage: usage.optional(),
  outcome: z.string().optional(),
  reason: z.string().nullable().optional(),
  result: z.looseObject({}).optional().describe(
    "Of block_finished what became of the block, at the end of the query what it came to",
  ),
}).describe("One event of a query");

const message = z.object({ role: z.string(), bytes: count, tokens: count, text: z.string() });

/** What is asked of a model. A name ends with "jsonl" where each line is one of these. */
export const queryOutputs = {
  "run": result,
  "run jsonl": event,
  "conversations retry": result,
  "conversations retry jsonl": event,
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

import { z } from "zod";
import { DECISIONS } from "../../domain/query/approval.ts";
import { BlockResultSchema } from "./block_result_schema.ts";
import { QueryResultSchema } from "./query_result_schema.ts";
import { UsageSchema } from "./usage_schema.ts";

const whole = z.number().int();
const block = whole.describe("Index in the iteration, 0-based");

const envelope = {
  seq: whole.describe("1-based, without gaps within a query"),
  at: whole.describe("Milliseconds since the epoch"),
  queryId: z.string(),
  parentQueryId: z.string().optional().describe("For a child query: the query whose block started it"),
  iteration: whole.nullable().describe("1-based; null outside an iteration"),
};

function event<T extends string, S extends z.ZodRawShape>(type: T, body: S) {
  return z.object({ type: z.literal(type), ...body, ...envelope });
}

export const ApprovalQuestionSchema = z.object({
  id: z.string().describe("For the answer"),
  extension: z.string().describe("Namespace of the extension that asks"),
  what: z.string().describe("What would be done, as a phrase: run npm ci with network"),
  why: z.string(),
  scope: z.string().describe("What a lasting answer allows, as a phrase: network for commands"),
});

/** One event of a query, as the data of a server-sent event and a line of `vis run --output jsonl`. */
export const QueryEventSchema = z.discriminatedUnion("type", [
  event("started", { conversationId: z.string(), request: z.string(), model: z.string() }),
  event("iteration_started", {
    used: whole.describe("Iterations that count against the budget, this one included"),
    budget: whole.describe("Iterations the query may use before it must ask for more"),
  }),
  event("steered", { text: z.string() }).describe("A message of the user that this iteration shows to the model"),
  event("thinking", { delta: z.string() }),
  event("code", { block, delta: z.string() }),
  event("block_started", { block, code: z.string() }),
  event("block_finished", { block, result: BlockResultSchema }),
  event("host_call", {
    block,
    name: z.string(),
    phase: z.enum(["start", "end"]),
    action: z.object({ doing: z.string(), done: z.string(), things: z.string(), subject: z.string() }).optional()
      .describe("What the call does, in words: reading, read, files, src/app.ts"),
    ms: z.number().optional(),
    ok: z.boolean().optional(),
    outcome: z.string().optional().describe("How it turned out, in a few words: 12 passed"),
    diffs: z.array(z.string()).optional().describe("File changes, a unified diff each"),
  }),
  event("approval_requested", ApprovalQuestionSchema.shape),
  event("approval_answered", {
    id: z.string(),
    decision: z.enum(DECISIONS),
    reason: z.string().describe("Why not, in the user's words"),
  }),
  event("nudge", { lines: z.array(z.string()) }),
  event("retrying", {
    reason: z.string().describe("Why there was no reply from the model"),
    waitMs: z.number().describe("Time until the next attempt"),
    attempt: z.number().int().describe("Number of the next attempt, 1-based"),
  }),
  event("waiting", {
    model: z.string().describe("The model that has not begun to reply"),
    waitedMs: z.number().describe("How long the call has waited"),
    limitMs: z.number().describe("When the call is given up"),
  }),
  event("usage", { usage: UsageSchema }),
  event("iteration_finished", {
    outcome: z.enum(["executed", "empty", "failed", "refused", "final"]),
    reason: z.string().nullable(),
    ms: z.number(),
  }),
  event("answer_delta", { delta: z.string() }),
  event("final", { result: QueryResultSchema }),
  event("failed", { result: QueryResultSchema }),
  event("cancelled", { result: QueryResultSchema }),
]).describe("Exactly one final, failed or cancelled event ends a query");

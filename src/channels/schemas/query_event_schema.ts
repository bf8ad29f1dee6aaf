import { z } from "zod";
import { BlockResultSchema } from "./block_result_schema.ts";
import { QueryResultSchema } from "./query_result_schema.ts";
import { UsageSchema } from "./usage_schema.ts";

const whole = z.number().int();
const block = whole.describe("Of the iteration, from 0 on");

const envelope = {
  seq: whole.describe("From 1 on and without gaps within a query"),
  at: whole.describe("Milliseconds since the epoch"),
  queryId: z.string(),
  parentQueryId: z.string().optional().describe("Of a child query: the one whose block started it"),
  iteration: whole.nullable().describe("From 1 on; null outside an iteration"),
};

function event<T extends string, S extends z.ZodRawShape>(type: T, body: S) {
  return z.object({ type: z.literal(type), ...body, ...envelope });
}

/** One event of a query, as the data of a server-sent event and a line of `vis run --output jsonl`. */
export const QueryEventSchema = z.discriminatedUnion("type", [
  event("started", { conversationId: z.string(), request: z.string(), model: z.string() }),
  event("thinking", { delta: z.string() }),
  event("code", { block, delta: z.string() }),
  event("block_started", { block, code: z.string() }),
  event("block_finished", { block, result: BlockResultSchema }),
  event("host_call", {
    block,
    name: z.string(),
    phase: z.enum(["start", "end"]),
    ms: z.number().optional(),
    ok: z.boolean().optional(),
    diffs: z.array(z.string()).optional().describe("How files were changed: a unified diff each"),
  }),
  event("nudge", { lines: z.array(z.string()) }),
  event("retrying", {
    reason: z.string().describe("Why the model gave no reply"),
    waitMs: z.number().describe("Until it is asked again"),
    attempt: z.number().int().describe("The number of that try, 1-based"),
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
]).describe("final, failed or cancelled ends a query, once");

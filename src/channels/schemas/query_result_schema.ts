import { z } from "zod";
import { QUERY_REASONS } from "../../domain/query/query_result.ts";
import { UsageSchema } from "./usage_schema.ts";

export const QueryResultSchema = z.object({
  status: z.enum(["done", "error", "interrupted"]),
  reason: z.enum(QUERY_REASONS).describe("Why it ended"),
  answer: z.string().describe("Never empty; where there is no answer, why"),
  answerType: z.enum(["text", "markdown"]),
  confidence: z.enum(["high", "medium", "low"]),
  queryId: z.string(),
  conversationId: z.string(),
  iterations: z.number().int().min(0),
  usage: UsageSchema,
  costUsd: z.number().nullable().describe("Null where the price of the model is not known"),
  ms: z.number(),
  notes: z.array(z.string()),
  value: z.unknown().optional().describe("The answer as data, where it had to satisfy a schema"),
}).describe("What a query came to");

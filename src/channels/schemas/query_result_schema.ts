import { z } from "zod";
import { QUERY_REASONS } from "../../domain/query/query_result.ts";
import { UsageSchema } from "./usage_schema.ts";

export const QueryResultSchema = z.object({
  status: z.enum(["done", "error", "interrupted"]),
  reason: z.enum(QUERY_REASONS).describe("Why it ended"),
  answer: z.string().describe("The answer, or why there is none; never empty"),
  answerType: z.enum(["text", "markdown"]),
  confidence: z.enum(["high", "medium", "low"]),
  queryId: z.string(),
  conversationId: z.string(),
  iterations: z.number().int().min(0),
  usage: UsageSchema,
  costUsd: z.number().nullable().describe("Null if the price of the model is unknown"),
  ms: z.number(),
  notes: z.array(z.string()),
  noAnswer: z.literal(true).optional().describe("Present if `answer` only says why there is none"),
  value: z.unknown().optional().describe("The answer as data, if a schema was given"),
}).describe("Result of a query");

import { z } from "zod";

const count = z.number().int().min(0);
const position = z.number().int().nullable().describe("1-based; null if unknown");

export const BlockResultSchema = z.object({
  ok: z.boolean(),
  outcome: z.enum(["value", "none", "error", "refused", "timeout", "killed", "memory", "cancelled"]),
  preview: z.string().describe("The value as text, of bounded length"),
  type: z.string(),
  size: z.number().nullable(),
  stdout: z.string(),
  stderr: z.string(),
  dropped: count.describe("Number of characters of output that were dropped"),
  error: z.object({
    name: z.string(),
    message: z.string(),
    line: position,
    column: position,
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
}).describe("Result of a block");

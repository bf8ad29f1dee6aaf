import { z } from "zod";

const count = z.number().int().min(0);

export const UsageSchema = z.object({
  input: count,
  output: count,
  cached: count.describe("Part of input that was read from a prefix cache"),
  cacheWrite: count.optional().describe("Part of input that was written to a cache"),
  reasoning: count.describe("Part of output that was reasoning"),
  calls: count,
}).describe("Tokens as counted by the provider");

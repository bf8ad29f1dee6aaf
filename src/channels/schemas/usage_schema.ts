import { z } from "zod";

const count = z.number().int().min(0);

export const UsageSchema = z.object({
  input: count,
  output: count,
  cached: count.describe("The part of input that came from a prefix cache"),
  cacheWrite: count.optional().describe("The part of input that was written to a cache"),
  reasoning: count.describe("The part of output that was reasoning of the model's own"),
  calls: count,
}).describe("Tokens as the provider counted them");

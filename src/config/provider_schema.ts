import { z } from "zod";

const positive = z.int().positive();
const usd = z.number().min(0);

const ModelSchema = z.strictObject({
  name: z.string().trim().min(1).describe("Name of the model as the service knows it"),
  contextTokens: positive.optional().describe("Tokens of context, request and reply together"),
  price: z.strictObject({
    input: usd.describe("US dollars per million tokens of input"),
    output: usd.describe("US dollars per million tokens of output"),
    cached: usd.optional().describe("US dollars per million tokens of input from a cache, else as input"),
    cacheWrite: usd.optional().describe("US dollars per million tokens of input that is written to a cache"),
  }).optional().describe("What the model costs"),
  reasoning: z.boolean().optional().describe("Whether the model has its own reasoning, with levels"),
  images: z.boolean().optional().describe("Whether the model takes images"),
  alternatingRoles: z.boolean().optional().describe("Whether the model has no system role or wants alternating roles"),
  speed: z.number().optional().describe("Rank of the model by speed, higher is faster"),
  intelligence: z.number().optional().describe("Rank of the model by intelligence, higher is better"),
});

/** One provider of `providers[]`: the first model of the first provider is the root, the others are fallbacks. */
export const ProviderSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][\w.-]*$/, "must be a name of letters, digits, dots and dashes")
    .describe("Name that --provider and provider/model use"),
  preset: z.string().min(1).optional().describe(
    "Preset that gives what is left out, by default the one of the same name",
  ),
  protocol: z.enum(["openai-chat", "openai-responses", "anthropic", "google"]).optional()
    .describe("Wire format of the service"),
  baseUrl: z.url({ protocol: /^https?$/ }).optional().describe("Address of the service with its version path"),
  keyEnv: z.string().regex(/^[A-Za-z_]\w*$/, "must be the name of a variable").optional()
    .describe("Variable of the environment that holds the key; the key itself has no place in this file"),
  models: z.array(ModelSchema).default([]).describe("Models in order of preference, with what is known better here"),
  headers: z.record(z.string(), z.string()).optional().describe("Headers to send besides those of the protocol"),
  firstTokenMs: positive.optional().describe(
    "How long the service may send nothing before the first word of a reply, in milliseconds (default: 2 minutes, 30 for a server on this machine)",
  ),
  silenceMs: positive.optional().describe(
    "How long the service may send nothing in the middle of a reply, in milliseconds (default: 60 seconds)",
  ),
  rateLimit: z.strictObject({
    requests: positive.optional().describe("Most requests within the interval"),
    tokens: positive.optional().describe("Most tokens within the interval, input and output"),
    perMs: positive.default(60_000).describe("Length of the interval in milliseconds"),
  }).optional().describe("How often the service may be asked; beyond it the next model serves, or the call waits"),
});

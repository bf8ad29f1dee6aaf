import { z } from "zod";

/** Responses in OpenAI's format, with the fields that have a meaning here. */

const count = z.number().int();

export const ChatCompletionSchema = z.object({
  id: z.string().describe("chatcmpl- followed by the query id"),
  object: z.literal("chat.completion"),
  created: count.describe("Seconds since the epoch"),
  model: z.string(),
  choices: z.array(
    z.object({
      index: z.literal(0),
      message: z.object({ role: z.literal("assistant"), content: z.string() }).loose(),
      finish_reason: z.enum(["stop", "length"]).describe("length: a limit ended the query with its best answer"),
    }).loose(),
  ),
  usage: z.object({ prompt_tokens: count, completion_tokens: count, total_tokens: count }).loose(),
}).loose();

const Item = z.object({ id: z.string(), type: z.enum(["reasoning", "message"]) }).loose();

export const ResponseSchema = z.object({
  id: z.string().describe("resp_ followed by the query id"),
  object: z.literal("response"),
  created_at: count.describe("Seconds since the epoch"),
  status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  model: z.string(),
  conversation: z.object({ id: z.string() }),
  previous_response_id: z.string().nullable(),
  output: z.array(Item),
  usage: z.object({ input_tokens: count, output_tokens: count, total_tokens: count }).loose().nullable(),
  metadata: z.record(z.string(), z.unknown()),
}).loose();

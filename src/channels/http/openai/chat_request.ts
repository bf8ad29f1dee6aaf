import { z } from "zod";
import { MessageSchema } from "./messages.ts";

const ResponseFormat = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), json_schema: z.object({ schema: z.unknown().optional() }) }),
]);

/** Chat completions as clients send them. */
export const ChatCompletionBody = z.object({
  model: z.string(),
  messages: z.array(MessageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  response_format: ResponseFormat.nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish().describe("conversation: id of the conversation to continue"),
  n: z.number().nullish(),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.unknown().optional(),
  functions: z.array(z.unknown()).nullish(),
  function_call: z.unknown().optional(),
  audio: z.unknown().optional(),
}).loose();

export type ChatCompletionRequest = z.infer<typeof ChatCompletionBody>;

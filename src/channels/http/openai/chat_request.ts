import { z } from "zod";

const text = z.object({ type: z.literal("text"), text: z.string() });
const image = z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) });
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });

const Message = z.object({
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: z.union([z.string(), z.array(z.union([text, image, refusal]))]).nullish(),
  name: z.string().optional(),
  tool_calls: z.array(z.unknown()).nullish(),
  tool_call_id: z.string().nullish(),
});

const ResponseFormat = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), json_schema: z.object({ schema: z.unknown().optional() }) }),
]);

/** Chat completions as clients send them. */
export const ChatCompletionBody = z.object({
  model: z.string(),
  messages: z.array(Message).min(1),
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
export type ChatMessage = z.infer<typeof Message>;

import { z } from "zod";

const text = z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() });
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });
const image = z.union([
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal("input_image"), image_url: z.string() }),
]);

/** A message as clients of OpenAI's APIs send it: chat completions and responses name the same parts differently. */
export const MessageSchema = z.object({
  type: z.literal("message").optional(),
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: z.union([z.string(), z.array(z.union([text, image, refusal]))]).nullish(),
  name: z.string().optional(),
  tool_calls: z.array(z.unknown()).nullish(),
  tool_call_id: z.string().nullish(),
});

export type OpenAiMessage = z.infer<typeof MessageSchema>;

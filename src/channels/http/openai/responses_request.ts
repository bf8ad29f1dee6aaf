import { z } from "zod";
import { MessageSchema } from "./messages.ts";

/** Thinking of earlier responses that clients send back: the answer does not depend on it. */
const Reasoning = z.object({ type: z.literal("reasoning") });

/** An item of an earlier response, by its id instead of its text. Some clients omit the type. */
const Reference = z.object({ type: z.literal("item_reference").nullish(), id: z.string() });

const Format = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), schema: z.unknown().optional() }).loose(),
]);

/** Responses as OpenAI's clients request them. */
export const ResponseBody = z.object({
  model: z.string().nullish(),
  input: z.union([z.string(), z.array(z.union([MessageSchema, Reasoning, Reference])).min(1)]),
  instructions: z.string().nullish().describe("For this query only"),
  stream: z.boolean().nullish(),
  text: z.object({ format: Format.nullish() }).nullish(),
  previous_response_id: z.string().nullish().describe(
    "The response to continue from; in a new branch if other responses already follow it",
  ),
  conversation: z.union([z.string(), z.object({ id: z.string() })]).nullish().describe(
    "The conversation to continue",
  ),
  metadata: z.record(z.string(), z.unknown()).nullish().describe("conversation: id of the conversation to continue"),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.unknown().optional(),
  background: z.boolean().nullish(),
  prompt: z.unknown().optional(),
}).loose();

export type ResponseRequest = z.infer<typeof ResponseBody>;

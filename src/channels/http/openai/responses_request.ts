import { z } from "zod";

/** Responses as OpenAI's clients request them; fields without a meaning here (such as temperature) are ignored. */

const text = z.object({ type: z.enum(["input_text", "output_text"]), text: z.string() });
const image = z.object({ type: z.literal("input_image"), image_url: z.string() });
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });

const Message = z.object({
  type: z.literal("message").optional(),
  role: z.enum(["user", "assistant", "system", "developer"]),
  content: z.union([z.string(), z.array(z.union([text, image, refusal]))]),
});

/** Items of earlier responses that clients send back: the conversation already has them. */
const Known = z.object({ type: z.enum(["reasoning", "item_reference"]) });

const Format = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), schema: z.unknown() }),
]);

export const ResponseBody = z.object({
  model: z.string().nullish(),
  input: z.union([z.string(), z.array(z.union([Message, Known])).min(1)]),
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
  background: z.boolean().nullish(),
  prompt: z.unknown().optional(),
}).loose();

export type ResponseRequest = z.infer<typeof ResponseBody>;
export type ResponseItem = Exclude<ResponseRequest["input"], string>[number];

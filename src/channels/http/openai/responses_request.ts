import { z } from "zod";
import { MessageSchema } from "./input.ts";
import { OpenAiBody } from "./parameters.ts";

/** Thinking of earlier responses that clients send back: the answer does not depend on it. */
const Reasoning = z.object({ type: z.literal("reasoning") });

/** An item of an earlier response, by its id instead of its text. Some clients omit the type. */
const Reference = z.object({ type: z.literal("item_reference").nullish(), id: z.string() });

const Item = z.union(
  [MessageSchema, Reasoning, Reference],
  "It must be a message, reasoning or a reference to an item: calls of tools and files are not supported",
);

const Format = z.union([
  z.object({ type: z.enum(["text", "json_object"]) }),
  z.object({ type: z.literal("json_schema"), schema: z.unknown().optional() }).loose(),
]);

/** Responses as OpenAI's clients request them. */
export const ResponseBody = OpenAiBody.extend({
  model: z.string().nullish(),
  input: z.union([z.string(), z.array(Item).min(1)]),
  instructions: z.string().nullish().describe("For this query only"),
  text: z.object({ format: Format.nullish() }).nullish(),
  previous_response_id: z.string().nullish().describe(
    "The response to continue from; in a new branch if other responses already follow it",
  ),
  conversation: z.union([z.string(), z.object({ id: z.string() }).transform(({ id }) => id)]).nullish().describe(
    "The conversation to continue",
  ),
  background: z.literal(false, "Wait for the response, or stream it").nullish(),
  prompt: z.null("Stored prompts are not supported").optional(),
});

export type ResponseRequest = z.infer<typeof ResponseBody>;

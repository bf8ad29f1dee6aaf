import { z } from "zod";
import type { AskOptions } from "../../../conversation/send_options.ts";
import { type Image, readImage } from "../../../domain/images.ts";
import { requestOfImages } from "../../../domain/query/stored_query.ts";
import { unfitField } from "../problem.ts";
import { inputSource } from "../route.ts";

const text = z.object({ type: z.enum(["text", "input_text", "output_text"]), text: z.string() });
const refusal = z.object({ type: z.literal("refusal"), refusal: z.string() });
const image = z.union([
  z.object({ type: z.literal("image_url"), image_url: z.object({ url: z.string() }) }),
  z.object({ type: z.literal("input_image"), image_url: z.string() }),
]);

const part = z.union([text, image, refusal], "It must be a text, an image or a refusal");

/** A message as clients of OpenAI's APIs send it: chat completions and responses name the same parts differently. */
export const MessageSchema = z.object({
  type: z.literal("message").optional(),
  role: z.enum(["system", "developer", "user", "assistant", "tool", "function"]),
  content: z.union([z.string(), z.array(part)]).nullish(),
  name: z.string().optional(),
  tool_calls: z.array(z.unknown()).nullish(),
  tool_call_id: z.string().nullish(),
});

export type OpenAiMessage = z.infer<typeof MessageSchema>;

/** What a client sends to the agent, of either API. */
export interface OpenAiRequest {
  readonly messages: readonly OpenAiMessage[];
  /** The path of the messages in the body. */
  readonly field: "messages" | "input";
  /** Of the answer; text if there is none. */
  readonly format: { readonly type: string; readonly schema?: unknown } | null | undefined;
}

export type OpenAiInput = Pick<AskOptions, "images" | "responseSchema" | "variables" | "instructions" | "askedAs">;

/** Turns a client's messages into input for the agent. The last user message is the request; without one, the last
 * message is. In a new conversation the others become the variable `messages`; in an existing one they are already
 * known. Throws `Problem` if there is nothing to request. */
export function openAiInput(
  { messages, field, format }: OpenAiRequest,
  isNew: boolean,
): { readonly request: string; readonly given: OpenAiInput } {
  const asked = messages.findLast(({ role }) => role === "user") ?? messages.at(-1);
  const images = asked ? imagesOf(asked) : [];
  const request = requestOfImages(asked ? textOf(asked) : "", images);
  if (request.trim() === "") throw unfitField(field, "Cannot run an empty request: the last message is empty");
  const others = messages.filter((message) => message !== asked);
  const said = others.filter(({ role }) => role !== "system" && role !== "developer");
  const instructions = others.filter((message) => !said.includes(message)).map(textOf).join("\n\n");
  return {
    request,
    given: {
      images,
      responseSchema: !format || format.type === "text" ? undefined : format.schema ?? { type: "object" },
      instructions,
      variables: isNew && said.length > 0 ? { messages: inputSource("messages", said.map(plain)) } : undefined,
    },
  };
}

/** A message as data. Tool calls stay; images are marked. */
function plain({ content, type: _, ...message }: OpenAiMessage): Readonly<Record<string, unknown>> {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content ?? [];
  const texts = parts.map((part) => {
    if ("image_url" in part) return imageMark(urlOf(part));
    return "text" in part ? part.text : part.refusal;
  });
  return { ...message, content: texts.join("") };
}

function urlOf({ image_url: image }: { readonly image_url: string | { readonly url: string } }): string {
  return typeof image === "string" ? image : image.url;
}

function imageMark(url: string): string {
  const data = /^data:([\w+./-]*)/i.exec(url);
  return data ? `[image: ${data[1] || "data"}, ${url.length} characters of base64]` : `[image: ${url}]`;
}

function textOf({ content }: OpenAiMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => "text" in part ? part.text : "").join("");
}

function imagesOf({ content }: OpenAiMessage): readonly Image[] {
  if (typeof content === "string" || !content) return [];
  const urls = content.flatMap((part) => "image_url" in part ? [urlOf(part)] : []);
  return urls.map((url, at) => readImage(url, `${at + 1}`));
}

/** Names the parameters of a request that have no effect here. */
const IGNORED_HEADER = "x-vis-ignored";

const MAX_NAMED = 50;
const penalty = z.number().min(-2).max(2).nullish();
const tokens = z.number().int().min(1).nullish();

/** Parameters of the protocol without an effect here, with the values that OpenAI accepts. */
const ignored = {
  store: z.boolean().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  max_output_tokens: tokens,
  presence_penalty: penalty,
  frequency_penalty: penalty,
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().min(0).max(20).nullish(),
  seed: z.number().int().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
};

/** What clients of both APIs send. */
export const OpenAiBody = z.looseObject({
  ...ignored,
  stream: z.boolean().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish().describe("conversation: id of the conversation to continue"),
  tools: z.array(z.unknown()).nullish(),
  tool_choice: z.unknown().optional(),
});

/** The header that names what a request contains without an effect; none if there is nothing. `known` are the
 * parameters of its API. */
export function ignoredParameters(
  body: z.infer<typeof OpenAiBody>,
  known: Readonly<Record<string, unknown>>,
): Readonly<Record<string, string>> {
  const names = Object.keys(body).filter((name) =>
    (name in ignored || !(name in known)) && hasEffectElsewhere(name, body[name])
  );
  const shown = names.filter((name) => /^\w{1,64}$/.test(name)).slice(0, MAX_NAMED);
  return shown.length === 0 ? {} : { [IGNORED_HEADER]: shown.join(", ") };
}

/** Whether another server would do something that this one does not. */
function hasEffectElsewhere(name: string, value: unknown): boolean {
  if (value === null || value === undefined || value === false) return name === "store" && value === false;
  return !(name === "store" || (Array.isArray(value) && value.length === 0));
}

/** Throws `Problem` if the client offers tools that the model may call. */
export function refuseTools(
  { tools, functions, tool_choice: choice, function_call: call }: z.infer<typeof OpenAiBody>,
): void {
  for (const [field, offered, chosen] of [["tools", tools, choice], ["functions", functions, call]] as const) {
    if (!Array.isArray(offered) || offered.length === 0 || chosen === "none") continue;
    throw unfitField(field, `Cannot call ${field} of the client: the agent runs its own code`);
  }
}

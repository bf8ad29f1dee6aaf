import { z } from "zod";
import type { AskOptions } from "../../../conversation/send_options.ts";
import { type Image, readImage } from "../../../domain/images.ts";
import { requestOfImages } from "../../../domain/query/stored_query.ts";
import { inputSource } from "../request/input_source.ts";
import { unfitField } from "../response/problem.ts";

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

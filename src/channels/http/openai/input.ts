import type { AskOptions } from "../../../conversation/send_options.ts";
import { readImage } from "../../../domain/images/read_image.ts";
import { inputSource } from "../request/input_source.ts";
import type { ChatMessage } from "./chat_request.ts";
import { unfitField } from "../response/problem.ts";

export type OpenAiInput = Pick<AskOptions, "images" | "responseSchema" | "variables" | "instructions">;

/** Turns a client's messages into input for the agent. The last user message is the request. In a new conversation the
 * messages before it become the variable `messages`; in an existing one they are already known. Throws `Problem` if the
 * last message is not the user's; `field` is their path in the body. */
export function openAiInput(
  messages: readonly ChatMessage[],
  { isNew, schema, field }: { readonly isNew: boolean; readonly schema: unknown; readonly field: string },
): { readonly request: string; readonly given: OpenAiInput } {
  const at = messages.findLastIndex(({ role }) => role === "user");
  const last = messages[at];
  if (!last || at !== messages.length - 1) {
    throw unfitField(field, `Cannot use ${field}: the last message must have the role user`);
  }
  const request = textOf(last);
  if (request.trim() === "") throw unfitField(field, "Cannot run an empty request: the last message is empty");
  const earlier = messages.slice(0, at);
  const said = earlier.filter(({ role }) => role !== "system" && role !== "developer");
  const instructions = earlier.filter((message) => !said.includes(message)).map(textOf).join("\n\n");
  return {
    request,
    given: {
      images: imagesOf(last),
      ...(schema === undefined ? {} : { responseSchema: schema }),
      ...(instructions === "" ? {} : { instructions }),
      ...(isNew && said.length > 0 ? { variables: { messages: inputSource("messages", said.map(plain)) } } : {}),
    },
  };
}

function plain(message: ChatMessage): { readonly role: string; readonly content: string } {
  return { role: message.role, content: textOf(message) };
}

function textOf({ content }: ChatMessage): string {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.type === "text" ? part.text : "").join("");
}

function imagesOf({ content }: ChatMessage) {
  if (typeof content === "string" || !content) return [];
  const urls = content.flatMap((part) => part.type === "image_url" ? [part.image_url.url] : []);
  return urls.map((url, at) => readImage(url, `${at + 1}`));
}

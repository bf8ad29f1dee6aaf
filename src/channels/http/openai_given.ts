import type { SendOptions } from "../../conversation/conversations.ts";
import { readImage } from "../../domain/read_image.ts";
import { givenSource } from "./given_source.ts";
import type { ChatCompletionRequest, ChatMessage } from "./openai_request.ts";
import { Problem } from "./problem.ts";

type Given = Pick<SendOptions, "images" | "responseSchema" | "variables" | "instructions">;

/** What a chat completion asks of the agent. The last user message is the request; in a new conversation those before
 * it become the variable `messages`, in one that goes on they are known already. Throws `Problem` for what cannot be
 * offered. */
export function openAiGiven(
  body: ChatCompletionRequest,
  { isNew }: { readonly isNew: boolean },
): { readonly request: string; readonly given: Given } {
  refuse(body);
  const at = body.messages.findLastIndex(({ role }) => role === "user");
  const last = body.messages[at];
  if (!last || at !== body.messages.length - 1) {
    throw unfit("messages", "Cannot use messages: the last one must be of the role user");
  }
  const earlier = body.messages.slice(0, at);
  const said = earlier.filter(({ role }) => role !== "system" && role !== "developer");
  const instructions = earlier.filter((message) => !said.includes(message)).map(textOf).join("\n\n");
  const schema = schemaOf(body);
  return {
    request: textOf(last),
    given: {
      images: imagesOf(last),
      ...(schema === undefined ? {} : { responseSchema: schema }),
      ...(instructions === "" ? {} : { instructions }),
      ...(isNew && said.length > 0 ? { variables: { messages: givenSource("messages", said.map(plain)) } } : {}),
    },
  };
}

function refuse({ tools, functions, n, audio }: ChatCompletionRequest): void {
  if ((tools?.length ?? 0) > 0) throw unfit("tools", "Cannot call tools of the client: the agent runs code of its own");
  if ((functions?.length ?? 0) > 0) {
    throw unfit("functions", "Cannot call functions of the client: the agent runs code of its own");
  }
  if ((n ?? 1) !== 1) throw unfit("n", `Cannot give ${n} choices: there is one answer`);
  if (audio !== undefined && audio !== null) throw unfit("audio", "Cannot answer with audio: answers are text");
}

function unfit(path: string, message: string): Problem {
  return new Problem(message, { kind: "bad-request", errors: [{ path, message }] });
}

function schemaOf({ response_format: format }: ChatCompletionRequest): unknown {
  if (!format || format.type === "text") return undefined;
  return format.type === "json_schema" ? format.json_schema.schema : { type: "object" };
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

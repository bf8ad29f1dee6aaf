import type { ChatMessage } from "./chat_request.ts";
import type { ResponseItem, ResponseRequest } from "./responses_request.ts";
import { unfitField } from "../response/problem.ts";

type Message = Extract<ResponseItem, { readonly role: string }>;

/** The input of a response as chat messages, and the schema of its answer. Throws `Problem` for options of the protocol
 * that are not supported here. */
export function responseMessages(
  body: ResponseRequest,
): { readonly messages: readonly ChatMessage[]; readonly schema: unknown } {
  refuse(body);
  const { input, instructions } = body;
  const items = typeof input === "string" ? [{ role: "user" as const, content: input }] : input.filter(isMessage);
  const first = instructions ? [{ role: "developer" as const, content: instructions }] : [];
  return { messages: [...first, ...items.map(chatMessage)], schema: schemaOf(body) };
}

function refuse({ tools, background, prompt }: ResponseRequest): void {
  if ((tools?.length ?? 0) > 0) {
    throw unfitField("tools", "Cannot call tools of the client: the agent runs its own code");
  }
  if (background) throw unfitField("background", "Cannot run in the background: wait for the response, or stream it");
  if (prompt !== undefined && prompt !== null) {
    throw unfitField("prompt", "Cannot use stored prompts: they are not supported");
  }
}

function isMessage(item: ResponseItem): item is Message {
  return "role" in item;
}

function chatMessage({ role, content }: Message): ChatMessage {
  if (typeof content === "string") return { role, content };
  return {
    role,
    content: content.map((part) => {
      if (part.type === "refusal") return part;
      if (part.type === "input_image") return { type: "image_url", image_url: { url: part.image_url } };
      return { type: "text", text: part.text };
    }),
  };
}

function schemaOf({ text }: ResponseRequest): unknown {
  const format = text?.format;
  if (!format || format.type === "text") return undefined;
  return format.type === "json_schema" ? format.schema : { type: "object" };
}

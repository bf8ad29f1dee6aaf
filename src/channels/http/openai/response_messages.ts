import type { ChatMessage } from "./chat_request.ts";
import type { ResponseItem, ResponseRequest } from "./responses_request.ts";
import { refuseTools } from "./parameters.ts";
import { unfitField } from "../response/problem.ts";

type Message = Extract<ResponseItem, { readonly role: string }>;

/** The input of a response as chat messages, and the schema of its answer. `answerOf` finds the text of an earlier
 * response's item. Throws `Problem` for options of the protocol that are not supported here. */
export async function responseMessages(
  body: ResponseRequest,
  answerOf: (id: string) => Promise<string>,
): Promise<{ readonly messages: readonly ChatMessage[]; readonly schema: unknown }> {
  refuse(body);
  const { input, instructions } = body;
  const messages: ChatMessage[] = instructions ? [{ role: "developer", content: instructions }] : [];
  for (const item of typeof input === "string" ? [{ role: "user" as const, content: input }] : input) {
    if ("role" in item) messages.push(chatMessage(item));
    else if ("id" in item && !item.id.startsWith("rs_")) {
      messages.push({ role: "assistant", content: await answerOf(item.id) });
    }
  }
  return { messages, schema: schemaOf(body) };
}

function refuse({ background, prompt, ...body }: ResponseRequest): void {
  refuseTools(body);
  if (background) throw unfitField("background", "Cannot run in the background: wait for the response, or stream it");
  if (prompt !== undefined && prompt !== null) {
    throw unfitField("prompt", "Cannot use stored prompts: they are not supported");
  }
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
  return (format.type === "json_schema" ? format.schema : null) ?? { type: "object" };
}

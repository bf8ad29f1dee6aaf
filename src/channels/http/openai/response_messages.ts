import type { OpenAiMessage } from "./messages.ts";
import type { ResponseRequest } from "./responses_request.ts";
import { refuseTools } from "./parameters.ts";
import { unfitField } from "../response/problem.ts";

/** The messages of a response, and the schema of its answer. `answerOf` finds the text of an earlier
 * response's item. Throws `Problem` for options of the protocol that are not supported here. */
export async function responseMessages(
  body: ResponseRequest,
  answerOf: (id: string) => Promise<string>,
): Promise<{ readonly messages: readonly OpenAiMessage[]; readonly schema: unknown }> {
  refuse(body);
  const { input, instructions } = body;
  const messages: OpenAiMessage[] = instructions ? [{ role: "developer", content: instructions }] : [];
  for (const item of typeof input === "string" ? [{ role: "user" as const, content: input }] : input) {
    if ("role" in item) messages.push(item);
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

function schemaOf({ text }: ResponseRequest): unknown {
  const format = text?.format;
  if (!format || format.type === "text") return undefined;
  return (format.type === "json_schema" ? format.schema : null) ?? { type: "object" };
}

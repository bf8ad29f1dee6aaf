import type { ChatCompletionRequest } from "./chat_request.ts";
import { unfitField } from "../response/unfit_field.ts";

/** The JSON Schema that the answer of a chat completion must satisfy, undefined for none. Throws `Problem` for what one
 * may ask for and cannot have here. */
export function checkChat(
  { tools, functions, n, audio, response_format: format }: ChatCompletionRequest,
): unknown {
  if ((tools?.length ?? 0) > 0) {
    throw unfitField("tools", "Cannot call tools of the client: the agent runs code of its own");
  }
  if ((functions?.length ?? 0) > 0) {
    throw unfitField("functions", "Cannot call functions of the client: the agent runs code of its own");
  }
  if ((n ?? 1) !== 1) throw unfitField("n", `Cannot give ${n} choices: there is one answer`);
  if (audio !== undefined && audio !== null) throw unfitField("audio", "Cannot answer with audio: answers are text");
  if (!format || format.type === "text") return undefined;
  return format.type === "json_schema" ? format.json_schema.schema : { type: "object" };
}

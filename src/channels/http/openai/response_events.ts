import { isChild, isEnd } from "../../../domain/query/query_event.ts";
import type { QueryResult } from "../../../domain/query/query_schemas.ts";
import type { FollowedEvent } from "../stream/followed_query.ts";
import { reasoningItem, type ResponseFacts, responseObject } from "./response_object.ts";

type Send = (type: string, data: object) => string;

/** The events of a response in OpenAI's format: thinking as one reasoning item, then the answer as a message. */
export async function* responseEvents(
  events: AsyncIterable<FollowedEvent>,
  facts: ResponseFacts,
): AsyncGenerator<string> {
  let number = 0;
  const send: Send = (name, data) => {
    const type = `response.${name}`;
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...data })}\n\n`;
  };
  const { response } = responseObject(facts, { result: null });
  yield send("created", { response }) + send("in_progress", { response });
  const thought = { item_id: `rs_${facts.queryId}`, output_index: 0, summary_index: 0 };
  let thinking = "";
  for await (const { event } of events) {
    if (isChild(event)) continue;
    if (event.type === "thinking" || (event.type === "iteration_finished" && thinking !== "")) {
      const delta = event.type === "thinking" ? event.delta : "\n";
      if (thinking === "") {
        const item = { ...reasoningItem(facts, ""), summary: [], status: "in_progress" };
        yield send("output_item.added", { output_index: 0, item }) +
          send("reasoning_summary_part.added", { ...thought, part: { type: "summary_text", text: "" } });
      }
      thinking += delta;
      yield send("reasoning_summary_text.delta", { ...thought, delta });
    }
    if (!isEnd(event)) continue;
    if (thinking !== "") {
      const item = reasoningItem(facts, thinking);
      yield send("reasoning_summary_text.done", { ...thought, text: thinking }) +
        send("reasoning_summary_part.done", { ...thought, part: item.summary[0] }) +
        send("output_item.done", { output_index: 0, item });
    }
    yield ended(send, { facts, result: event.result, thinking });
  }
}

/** The message, whole, and the end. */
function ended(
  send: Send,
  { facts, ...of }: { readonly facts: ResponseFacts; readonly result: QueryResult; readonly thinking: string },
): string {
  const { response, status, message } = responseObject(facts, of);
  if (!message) return send(status, { response });
  const [part] = message.content;
  const { text } = part;
  const index = of.thinking === "" ? 0 : 1;
  const at = { item_id: message.id, output_index: index, content_index: 0 };
  return send("output_item.added", { output_index: index, item: { ...message, status: "in_progress", content: [] } }) +
    send("content_part.added", { ...at, part: { ...part, text: "" } }) +
    send("output_text.delta", { ...at, delta: text, logprobs: [] }) +
    send("output_text.done", { ...at, text, logprobs: [] }) +
    send("content_part.done", { ...at, part }) +
    send("output_item.done", { output_index: index, item: message }) +
    send(status, { response });
}

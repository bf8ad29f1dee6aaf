import { isChild, isEnd, type QueryEvent } from "../../../domain/query/query_event.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";
import { openAiFailure } from "./failure.ts";
import { type ResponseFacts, responseObject } from "./response_object.ts";
import type { FollowedEvent } from "../stream/followed_event.ts";

/** The events of a response in OpenAI's format: thinking as one reasoning item, then the answer as a message. */
export async function* responseEvents(
  events: AsyncIterable<FollowedEvent>,
  facts: ResponseFacts,
): AsyncGenerator<string> {
  const stream = new ResponseStream(facts);
  yield stream.begin();
  for await (const { event } of events) {
    const text = isChild(event) ? "" : stream.take(event);
    if (text !== "") yield text;
  }
}

/** Tracks which items are open, and how far. */
class ResponseStream {
  readonly #facts: ResponseFacts;
  #number = 0;
  /** Null before the first item and after the last. */
  #open: "reasoning" | "message" | null = null;
  #thinking = "";
  #answer = "";
  #items = 0;

  constructor(facts: ResponseFacts) {
    this.#facts = facts;
  }

  begin(): string {
    const response = responseObject(this.#facts, { result: null });
    return this.#event("response.created", { response }) + this.#event("response.in_progress", { response });
  }

  /** The text that an event becomes for the client; "" for none. */
  take(event: QueryEvent): string {
    if (event.type === "thinking" && this.#open !== "message") return this.#think(event.delta);
    if (event.type === "iteration_finished" && this.#open === "reasoning") return this.#think("\n");
    if (event.type === "answer_delta") return this.#say(event.delta);
    return isEnd(event) ? this.#end(event.result) : "";
  }

  #think(delta: string): string {
    const before = this.#open === null ? this.#openThinking() : "";
    this.#thinking += delta;
    return before + this.#event("response.reasoning_summary_text.delta", { ...this.#summary(), delta });
  }

  #openThinking(): string {
    this.#open = "reasoning";
    const item = { id: `rs_${this.#facts.queryId}`, type: "reasoning", summary: [], status: "in_progress" };
    const part = { type: "summary_text", text: "" };
    return this.#event("response.output_item.added", { output_index: this.#items, item }) +
      this.#event("response.reasoning_summary_part.added", { ...this.#summary(), part });
  }

  #closeThinking(): string {
    if (this.#open !== "reasoning") return "";
    this.#open = null;
    const text = this.#thinking;
    const part = { type: "summary_text", text };
    const item = { id: `rs_${this.#facts.queryId}`, type: "reasoning", summary: [part], status: "completed" };
    return this.#event("response.reasoning_summary_text.done", { ...this.#summary(), text }) +
      this.#event("response.reasoning_summary_part.done", { ...this.#summary(), part }) +
      this.#event("response.output_item.done", { output_index: this.#items++, item });
  }

  #say(delta: string): string {
    const before = this.#open === "message" ? "" : this.#closeThinking() + this.#openMessage();
    this.#answer += delta;
    return before + this.#event("response.output_text.delta", { ...this.#content(), delta, logprobs: [] });
  }

  #openMessage(): string {
    this.#open = "message";
    const item = { ...this.#message("in_progress"), content: [] };
    return this.#event("response.output_item.added", { output_index: this.#items, item }) +
      this.#event("response.content_part.added", { ...this.#content(), part: textPart("") });
  }

  #end(result: QueryResult): string {
    const response = responseObject(this.#facts, { result, thinking: this.#thinking });
    if (openAiFailure(result)) return this.#closeThinking() + this.#event("response.failed", { response });
    const rest = this.#answer === "" ? this.#say(result.answer) : "";
    const isWhole = result.reason === "answered";
    const text = this.#answer;
    const item = { ...this.#message(isWhole ? "completed" : "incomplete"), content: [textPart(text)] };
    return rest +
      this.#event("response.output_text.done", { ...this.#content(), text, logprobs: [] }) +
      this.#event("response.content_part.done", { ...this.#content(), part: textPart(text) }) +
      this.#event("response.output_item.done", { output_index: this.#items, item }) +
      this.#event(isWhole ? "response.completed" : "response.incomplete", { response });
  }

  #summary() {
    return { item_id: `rs_${this.#facts.queryId}`, output_index: this.#items, summary_index: 0 };
  }

  #content() {
    return { item_id: `msg_${this.#facts.queryId}`, output_index: this.#items, content_index: 0 };
  }

  #message(status: string) {
    return { id: `msg_${this.#facts.queryId}`, type: "message", status, role: "assistant" };
  }

  #event(type: string, data: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#number++, ...data })}\n\n`;
  }
}

function textPart(text: string) {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

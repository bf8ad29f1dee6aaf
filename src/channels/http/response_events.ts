import { isChild, isEnd, type QueryEvent } from "../../domain/query_event.ts";
import type { QueryResult } from "../../domain/query_result.ts";
import { openAiFailure } from "./openai_failure.ts";
import { type ResponseFacts, responseObject } from "./response_object.ts";
import type { Run } from "./run.ts";

/** The events of a response as OpenAI's clients read them: thinking as one reasoning item, then the answer as a message. */
export async function* responseEvents(run: Run, facts: ResponseFacts): AsyncGenerator<string> {
  const stream = new ResponseStream(facts);
  yield* stream.begin();
  for (let found = await run.next(0); found; found = await run.next(found.number)) {
    if (!isChild(found.event)) yield* stream.take(found.event);
  }
}

/** Which items are open, and how far. */
class ResponseStream {
  readonly #facts: ResponseFacts;
  #number = 0;
  /** Null before it and after it. */
  #open: "reasoning" | "message" | null = null;
  #thinking = "";
  #answer = "";
  #items = 0;

  constructor(facts: ResponseFacts) {
    this.#facts = facts;
  }

  *begin(): Generator<string> {
    const response = responseObject(this.#facts, { result: null });
    yield this.#event("response.created", { response });
    yield this.#event("response.in_progress", { response });
  }

  *take(event: QueryEvent): Generator<string> {
    if (event.type === "thinking" && this.#open !== "message") yield* this.#think(event.delta);
    if (event.type === "iteration_finished" && this.#open === "reasoning") yield* this.#think("\n");
    if (event.type === "answer_delta") yield* this.#say(event.delta);
    if (isEnd(event)) yield* this.#end(event.result);
  }

  *#think(delta: string): Generator<string> {
    if (this.#open === null) {
      this.#open = "reasoning";
      const item = { id: `rs_${this.#facts.queryId}`, type: "reasoning", summary: [], status: "in_progress" };
      yield this.#event("response.output_item.added", { output_index: this.#items, item });
      const part = { type: "summary_text", text: "" };
      yield this.#event("response.reasoning_summary_part.added", { ...this.#summary(), part });
    }
    this.#thinking += delta;
    yield this.#event("response.reasoning_summary_text.delta", { ...this.#summary(), delta });
  }

  *#closeThinking(): Generator<string> {
    if (this.#open !== "reasoning") return;
    const text = this.#thinking;
    const part = { type: "summary_text", text };
    yield this.#event("response.reasoning_summary_text.done", { ...this.#summary(), text });
    yield this.#event("response.reasoning_summary_part.done", { ...this.#summary(), part });
    const item = { id: `rs_${this.#facts.queryId}`, type: "reasoning", summary: [part], status: "completed" };
    yield this.#event("response.output_item.done", { output_index: this.#items++, item });
    this.#open = null;
  }

  *#say(delta: string): Generator<string> {
    if (this.#open !== "message") {
      yield* this.#closeThinking();
      this.#open = "message";
      const item = { ...this.#message("in_progress"), content: [] };
      yield this.#event("response.output_item.added", { output_index: this.#items, item });
      yield this.#event("response.content_part.added", { ...this.#content(), part: textPart("") });
    }
    this.#answer += delta;
    yield this.#event("response.output_text.delta", { ...this.#content(), delta, logprobs: [] });
  }

  *#end(result: QueryResult): Generator<string> {
    const response = responseObject(this.#facts, { result, thinking: this.#thinking });
    if (openAiFailure(result)) {
      yield* this.#closeThinking();
      return yield this.#event("response.failed", { response });
    }
    if (this.#answer === "") yield* this.#say(result.answer);
    const isWhole = result.reason === "answered";
    const text = this.#answer;
    yield this.#event("response.output_text.done", { ...this.#content(), text, logprobs: [] });
    yield this.#event("response.content_part.done", { ...this.#content(), part: textPart(text) });
    const item = { ...this.#message(isWhole ? "completed" : "incomplete"), content: [textPart(text)] };
    yield this.#event("response.output_item.done", { output_index: this.#items, item });
    yield this.#event(isWhole ? "response.completed" : "response.incomplete", { response });
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

import type { QueryEventBody } from "../domain/query/query_event.ts";
import { ReplyStream } from "../prompt/reply/stream_reply.ts";
import type { ModelEvent } from "../providers/provider.ts";

type Delta = Exclude<ModelEvent, { type: "end" }>;

/** One reply while it arrives: what channels see of it, and what remains if it breaks off. */
export class ReplyProgress {
  readonly #send: (event: QueryEventBody) => void;
  #stream = new ReplyStream();
  #text: string[] = [];
  #reasoning: string[] = [];
  #thinking: string[] = [];

  constructor(send: (event: QueryEventBody) => void) {
    this.#send = send;
  }

  /** The text so far. */
  get text(): string {
    return this.#text.join("");
  }

  /** The model's thinking so far: its native reasoning, else the reply's own thinking. */
  get thinking(): string {
    return this.#reasoning.join("") || this.#thinking.join("");
  }

  /** Whether thinking was shown. */
  get thought(): boolean {
    return this.#reasoning.length > 0 || this.#thinking.length > 0;
  }

  /** Returns true if part of it is shown: code, and native reasoning, which takes precedence over the reply's own
   * thinking. */
  take(event: Delta): boolean {
    if (event.type === "reasoning") {
      this.#reasoning.push(event.delta);
      this.#send({ type: "thinking", delta: event.delta });
      return true;
    }
    this.#text.push(event.delta);
    const { thinking, code } = this.#stream.push(event.delta);
    const isOwn = thinking !== "" && this.#reasoning.length === 0;
    if (isOwn) {
      this.#thinking.push(thinking);
      this.#send({ type: "thinking", delta: thinking });
    }
    for (const { block, delta } of code) this.#send({ type: "code", block, delta });
    return isOwn || code.length > 0;
  }

  /** The reply is requested again: what arrived so far, of which nothing was shown, is discarded. */
  again(): void {
    this.#stream = new ReplyStream();
    this.#text = [];
  }
}

import type { ConversationParts } from "../../conversation/conversation_parts.ts";
import { Conversations } from "../../conversation/conversations.ts";
import type { AskOptions } from "../../conversation/send_options.ts";
import type { Emit } from "../../domain/query_event.ts";
import type { QueryResult } from "../../domain/query_result.ts";
import { QuerySpans } from "./query_spans.ts";
import type { Tracer } from "./tracer.ts";

type Emitting = { readonly emit: Emit };

/** The same conversations, with spans for every query. */
export class TracedConversations extends Conversations {
  readonly #tracer: Tracer;
  /** Of queries that have their spans: a retry in a branch of its own asks. */
  readonly #traced = new WeakSet<Emit>();

  constructor(parts: ConversationParts, tracer: Tracer) {
    super(parts);
    this.#tracer = tracer;
  }

  override async ask(...[target, request, options]: Parameters<Conversations["ask"]>): Promise<QueryResult> {
    return await this.#trace<AskOptions>(options, (traced) => super.ask(target, request, traced));
  }

  override async retry(...[queryId, options]: Parameters<Conversations["retry"]>): Promise<QueryResult> {
    return await this.#trace(options, (traced) => super.retry(queryId, traced));
  }

  async #trace<O extends Emitting>(options: O, run: (options: O) => Promise<QueryResult>): Promise<QueryResult> {
    if (this.#traced.has(options.emit)) return await run(options);
    const spans = new QuerySpans(this.#tracer);
    const emit: Emit = (event) => {
      spans.event(event);
      options.emit(event);
    };
    this.#traced.add(emit);
    try {
      return await this.#tracer.within(spans, () => run({ ...options, emit }));
    } catch (error) {
      spans.close(error);
      throw error;
    }
  }
}

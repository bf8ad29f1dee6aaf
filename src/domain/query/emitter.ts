import type { Emit, QueryEvent, QueryEventBody } from "./query_event.ts";

/** Adds the envelope to the events of one query. A channel that throws misses its events; the query continues. */
export class Emitter {
  readonly #emit: Emit;
  readonly #queryId: string;
  readonly #now: () => number;
  readonly #parent: { readonly parentQueryId?: string };
  #seq: number;
  /** 1-based; null outside an iteration. Set by the query engine. */
  iteration: number | null = null;

  constructor(
    emit: Emit,
    facts: {
      readonly queryId: string;
      readonly now: () => number;
      readonly parentQueryId?: string | undefined;
      /** The number of its last event, if another process sent some. */
      readonly seq?: number;
    },
  ) {
    this.#seq = facts.seq ?? 0;
    this.#emit = emit;
    this.#queryId = facts.queryId;
    this.#now = facts.now;
    this.#parent = facts.parentQueryId === undefined ? {} : { parentQueryId: facts.parentQueryId };
  }

  send(body: QueryEventBody): void {
    const event: QueryEvent = {
      ...body,
      seq: ++this.#seq,
      at: this.#now(),
      queryId: this.#queryId,
      iteration: this.iteration,
      ...this.#parent,
    };
    try {
      this.#emit(event);
    } catch {
      // A channel that cannot show an event must not stop the work behind it.
    }
  }
}

import type { QueryEvent, QueryEventBody, QueryResult } from "./query_schemas.ts";

export function isChild({ parentQueryId }: QueryEvent): boolean {
  return parentQueryId !== undefined;
}

export function isEnd(event: QueryEvent): event is Extract<QueryEvent, { readonly result: QueryResult }> {
  return event.type === "final" || event.type === "failed" || event.type === "cancelled";
}

export function isOwnEnd(event: QueryEvent): event is Extract<QueryEvent, { readonly result: QueryResult }> {
  return isEnd(event) && !isChild(event);
}

/** `number` is the position among the events of the query on all nodes. Without nodes, `number` is undefined. */
export type Emit = (event: QueryEvent, number?: number) => void;

export class Emitter {
  readonly #emit: Emit;
  readonly #queryId: string;
  readonly #now: () => number;
  readonly #parent: { readonly parentQueryId?: string };
  #seq: number;
  /** `iteration` is 1-based, and null outside an iteration. */
  iteration: number | null = null;

  constructor(
    emit: Emit,
    facts: {
      readonly queryId: string;
      readonly now: () => number;
      readonly parentQueryId?: string | undefined;
      readonly seq?: number;
    },
  ) {
    this.#seq = facts.seq ?? 0;
    this.#emit = emit;
    this.#queryId = facts.queryId;
    this.#now = facts.now;
    this.#parent = facts.parentQueryId === undefined ? {} : { parentQueryId: facts.parentQueryId };
  }

  send(body: QueryEventBody, { iteration = this.iteration }: { readonly iteration?: number | null } = {}): void {
    const event: QueryEvent = {
      ...body,
      seq: ++this.#seq,
      at: this.#now(),
      queryId: this.#queryId,
      iteration,
      ...this.#parent,
    };
    try {
      this.#emit(event);
    } catch {
      // A channel that cannot show an event must not stop the query.
    }
  }
}

export type Delay = Extract<QueryEventBody, { readonly type: "retrying" | "waiting" }>;

export function delayLine(event: Delay): string {
  if (event.type === "waiting") {
    const { model, waitedMs, limitMs } = event;
    return `waiting for ${model}: no reply for ${duration(waitedMs)} (limit ${duration(limitMs)})`;
  }
  return `retrying in ${duration(Math.max(1000, event.waitMs))} (try ${event.attempt}): ${event.reason}`;
}

function duration(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

/** Several nodes may run a query in succession. The numbers of each node begin after its own multiple, so that late
 * events of a lost node sort before the events of its successor. */
const EACH = 10_000_000;

export function beforeEpoch(epoch: number): number {
  return (epoch - 1) * EACH;
}

/** The end of the first node's events is unknown, so between events of two nodes, only the second node's missing events
 * count. */
export function omittedBetween(last: number, next: number): number {
  const from = Math.floor((next - 1) / EACH) * EACH;
  return next - Math.max(last, from) - 1;
}

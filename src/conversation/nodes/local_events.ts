import { beforeEpoch } from "../../domain/query/event_number.ts";
import type { QueryEvent } from "../../domain/query/query_event.ts";

export interface NumberedQueryEvent {
  readonly number: number;
  readonly event: QueryEvent;
}

/** So many are at hand for those who follow a query on the node that runs it; they read at once. */
const KEPT = 256;

/** The newest events of a run on this node. */
export class LocalEvents {
  /** The number before its first event. */
  readonly before: number;
  readonly #kept: NumberedQueryEvent[] = [];
  #newest: number;
  /** Whether the run has ended here. */
  over = false;

  constructor(epoch: number) {
    this.before = this.#newest = beforeEpoch(epoch);
  }

  /** Returns its number. */
  add(event: QueryEvent): number {
    const number = ++this.#newest;
    this.#kept.push({ number, event });
    if (this.#kept.length > KEPT) this.#kept.shift();
    return number;
  }

  /** Those after a number; null if the others have them: some are no longer at hand, the number is that of another run,
   * or nothing more comes from here. */
  after(number: number): readonly NumberedQueryEvent[] | null {
    const oldest = this.#newest - this.#kept.length + 1;
    if (number < this.before || number > this.#newest || number + 1 < oldest) return null;
    if (this.over && number === this.#newest) return null;
    return this.#kept.slice(number + 1 - oldest);
  }
}

import type { Clock } from "../../domain/kit/time.ts";

/** How often a service may be called. */
export interface RateLimit {
  readonly requests?: number | undefined;
  /** Input and output together. */
  readonly tokens?: number | undefined;
  readonly perMs: number;
}

export interface Ticket {
  readonly at: number;
  tokens: number;
}

/** Counts calls of the last `perMs` milliseconds. */
export class RateWindow {
  readonly #clock: Clock;
  readonly #limit: RateLimit | null;
  #tickets: Ticket[] = [];

  constructor(clock: Clock, limit: RateLimit | null) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** Milliseconds until a call with this many tokens fits; 0 if it fits now. A call larger than the whole window fits
   * once the window is empty. */
  waitMs(tokens: number): number {
    if (this.#limit === null) return 0;
    const { requests = Infinity, tokens: most = Infinity, perMs } = this.#limit;
    const now = this.#clock.now();
    this.#tickets = this.#tickets.filter(({ at }) => at + perMs > now);
    let count = this.#tickets.length;
    let sum = this.#tickets.reduce((total, ticket) => total + ticket.tokens, 0);
    if (count < requests && (sum + tokens <= most || sum === 0)) return 0;
    for (const { at, tokens: freed } of this.#tickets) {
      count--;
      sum -= freed;
      if (count < requests && (sum + tokens <= most || sum === 0)) return Math.max(1, at + perMs - now);
    }
    return 0;
  }

  /** Counts a call that is sent now. */
  take(tokens: number): Ticket {
    const ticket = { at: this.#clock.now(), tokens };
    if (this.#limit !== null) this.#tickets.push(ticket);
    return ticket;
  }
}

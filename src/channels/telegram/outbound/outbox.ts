import { backoff } from "../api/backoff.ts";
import type { BotClock } from "../api/bot_clock.ts";
import { TelegramError } from "../api/telegram_error.ts";

/** Telegram's sustained limits: one call a second per chat, twenty a minute per group. */
const PRIVATE_MS = 1_000, GROUP_MS = 3_000;
const KEPT_CHATS = 1_000;

interface Lane {
  /** The chat's calls in sequence: a late progress update must not overwrite an answer. */
  tail: Promise<unknown>;
  waiting: number;
  /** Until then, nothing optional is sent. */
  freeAt: number;
  /** Until then, Telegram accepts no calls. */
  floodUntil: number;
}

/** Calls that write into chats: in order, within Telegram's limits, and through flood limits and connection losses. */
export class Outbox {
  readonly #clock: BotClock;
  readonly #signal: AbortSignal;
  readonly #lanes = new Map<number, Lane>();

  /** After `signal`, waiting calls reject with `Cancelled`. */
  constructor({ clock, signal }: { readonly clock: BotClock; readonly signal: AbortSignal }) {
    this.#clock = clock;
    this.#signal = signal;
  }

  /** Retries until it succeeds. Rejects with `TelegramError` if waiting cannot help. */
  must<T>(chat: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const lane = this.#lane(chat);
    return this.#queued(lane, () => this.#persist(lane, { chat, call }));
  }

  /** Calls once, or not at all if the chat was written to just now. Never rejects. */
  async try(chat: number, call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const lane = this.#lane(chat);
    const now = this.#clock.now();
    if (lane.waiting > 0 || now < Math.max(lane.freeAt, lane.floodUntil)) return;
    await this.#queued(lane, () => this.#once(lane, { chat, call })).catch(() => {});
  }

  async #persist<T>(
    lane: Lane,
    what: { readonly chat: number; readonly call: (signal: AbortSignal) => Promise<T> },
  ): Promise<T> {
    for (let failures = 1;; failures++) {
      const wait = lane.floodUntil - this.#clock.now();
      if (wait > 0) await this.#clock.sleep(wait, this.#signal);
      try {
        return await this.#once(lane, what);
      } catch (error) {
        if (!(error instanceof TelegramError) || error.code !== "flood" && error.code !== "network") throw error;
        if (error.code === "network") await this.#clock.sleep(backoff(failures, this.#clock.random), this.#signal);
      }
    }
  }

  async #once<T>(
    lane: Lane,
    { chat, call }: { readonly chat: number; readonly call: (signal: AbortSignal) => Promise<T> },
  ): Promise<T> {
    try {
      return await call(this.#signal);
    } catch (error) {
      if (error instanceof TelegramError && error.code === "flood") {
        lane.floodUntil = this.#clock.now() + error.retryAfterMs;
      }
      throw error;
    } finally {
      lane.freeAt = this.#clock.now() + (chat < 0 ? GROUP_MS : PRIVATE_MS);
    }
  }

  #queued<T>(lane: Lane, run: () => Promise<T>): Promise<T> {
    lane.waiting++;
    const done = lane.tail.then(run).finally(() => lane.waiting--);
    lane.tail = done.catch(() => {});
    return done;
  }

  #lane(chat: number): Lane {
    const known = this.#lanes.get(chat);
    if (known) return known;
    const now = this.#clock.now();
    for (const [id, { waiting, freeAt, floodUntil }] of this.#lanes) {
      if (this.#lanes.size < KEPT_CHATS) break;
      if (waiting === 0 && Math.max(freeAt, floodUntil) < now) this.#lanes.delete(id);
    }
    const lane = { tail: Promise.resolve(), waiting: 0, freeAt: 0, floodUntil: 0 };
    this.#lanes.set(chat, lane);
    return lane;
  }
}

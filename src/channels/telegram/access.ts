import type { Clock } from "./clock.ts";
import type { ChatPlace } from "./incoming.ts";

/** A stranger hears it once in this time; all of them together, so many times a minute. */
const AGAIN_MS = 600_000, PER_MINUTE = 10;
const KEPT = 1_000;

/** Who may use the bot, and how often others are told that they may not. The list is read anew for each message: it
 * holds from the next one on. */
export class Access {
  readonly #allowed: () => Promise<readonly number[]>;
  readonly #clock: Clock;
  readonly #told = new Map<string, number>();
  #minute: number[] = [];

  constructor({ allowed, clock }: { readonly allowed: () => Promise<readonly number[]>; readonly clock: Clock }) {
    this.#allowed = allowed;
    this.#clock = clock;
  }

  /** A user who is listed, anywhere; anybody in a group that is. */
  async allows(userId: number, place: ChatPlace): Promise<boolean> {
    const allowed = await this.#allowed();
    return allowed.includes(userId) || place.group && allowed.includes(place.id);
  }

  /** Whether somebody is to be told something now that nobody must be able to make the bot repeat. */
  mayTell(what: string): boolean {
    const now = this.#clock.now();
    this.#minute = this.#minute.filter((at) => now - at < 60_000);
    const last = this.#told.get(what);
    if (last !== undefined && now - last < AGAIN_MS || this.#minute.length >= PER_MINUTE) return false;
    this.#minute.push(now);
    this.#told.delete(what);
    this.#told.set(what, now);
    const [oldest] = this.#told.keys();
    if (this.#told.size > KEPT && oldest !== undefined) this.#told.delete(oldest);
    return true;
  }
}

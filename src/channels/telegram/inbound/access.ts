import { BoundedMap } from "../../../domain/kit/bounded_map.ts";
import type { BotClock } from "../api/bot_clock.ts";
import type { ChatPlace } from "./incoming.ts";

/** A stranger hears it once in this time; all of them together, so many times a minute. Who may use the bot, sooner. */
const STRANGERS = { againMs: 600_000, perMinute: 10 }, KNOWN = { againMs: 60_000, perMinute: 30 };
const KEPT = 1_000;

/** Who may use the bot, and how often others are told that they may not. The list is read anew for each message: it
 * holds from the next one on. */
export class UserAccess {
  readonly #allowed: () => Promise<readonly number[]>;
  readonly #clock: BotClock;
  readonly #told = { strangers: new Told(STRANGERS), known: new Told(KNOWN) };

  constructor({ allowed, clock }: { readonly allowed: () => Promise<readonly number[]>; readonly clock: BotClock }) {
    this.#allowed = allowed;
    this.#clock = clock;
  }

  /** A user who is listed, anywhere; anybody in a group that is. */
  async allows(userId: number, place: ChatPlace): Promise<boolean> {
    const allowed = await this.#allowed();
    return allowed.includes(userId) || place.group && allowed.includes(place.id);
  }

  /** Whether somebody is to be told something now that nobody must be able to make the bot repeat. Strangers cannot
   * keep it from telling those it knows. */
  mayTell(what: string, to: "strangers" | "known" = "strangers"): boolean {
    return this.#told[to].may(what, this.#clock.now());
  }
}

/** What was told lately. */
class Told {
  readonly #limits: typeof STRANGERS;
  readonly #last = new BoundedMap<string, number>(KEPT);
  #minute: number[] = [];

  constructor(limits: typeof STRANGERS) {
    this.#limits = limits;
  }

  may(what: string, now: number): boolean {
    const { againMs, perMinute } = this.#limits;
    this.#minute = this.#minute.filter((at) => now - at < 60_000);
    const last = this.#last.get(what);
    if (last !== undefined && now - last < againMs || this.#minute.length >= perMinute) return false;
    this.#minute.push(now);
    this.#last.set(what, now);
    return true;
  }
}

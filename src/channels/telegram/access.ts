import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import type { BotClock } from "./bot_api.ts";
import type { ChatPlace } from "./read_update.ts";

const STRANGERS = { againMs: 600_000, perMinute: 10 }, KNOWN = { againMs: 60_000, perMinute: 30 };
const KEPT = 1_000;

export class UserAccess {
  readonly #allowed: () => Promise<readonly number[]>;
  readonly #clock: BotClock;
  readonly #told = { strangers: new Told(STRANGERS), known: new Told(KNOWN) };

  constructor({ allowed, clock }: { readonly allowed: () => Promise<readonly number[]>; readonly clock: BotClock }) {
    this.#allowed = allowed;
    this.#clock = clock;
  }

  async allows(userId: number, place: ChatPlace): Promise<boolean> {
    const allowed = await this.#allowed();
    return allowed.includes(userId) || place.group && allowed.includes(place.id);
  }

  mayTell(what: string, to: "strangers" | "known" = "strangers"): boolean {
    return this.#told[to].may(what, this.#clock.now());
  }
}

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

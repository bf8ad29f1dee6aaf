import { setTimeout as sleep } from "node:timers/promises";
import type { NodeStore, SharedEvent } from "../../persistence/store/node_store.ts";

const AGAIN_MS = 250;
/** How long events wait for more of them after some were sent. */
const GATHER_MS = 10;
/** So much JSON goes in one statement. */
const MOST_CHARS = 4_000_000;

/** Sends the events of all queries of this node to the others. What happens while some are being sent goes together
 * next. */
export class Publisher {
  readonly #store: Pick<NodeStore, "publish">;
  #waiting: SharedEvent[] = [];
  #sending: Promise<void> | null = null;
  #givenUp = false;

  constructor(store: Pick<NodeStore, "publish">) {
    this.#store = store;
  }

  add(event: SharedEvent): void {
    this.#waiting.push(event);
    this.#sending ??= this.#send().finally(() => this.#sending = null);
  }

  /** From now on what cannot be sent at once is not sent. */
  giveUp(): void {
    this.#givenUp = true;
  }

  /** Resolves when everything is sent. */
  async sent(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #send(): Promise<void> {
    await Promise.resolve(); // what one turn emits goes together
    while (this.#waiting.length > 0) {
      const events = this.#take();
      // Repeating it changes nothing.
      while (!(await this.#store.publish(events).then(() => true, () => this.#givenUp))) await sleep(AGAIN_MS);
      if (!this.#givenUp) await sleep(GATHER_MS);
    }
  }

  #take(): readonly SharedEvent[] {
    let chars = 0;
    const last = this.#waiting.findIndex(({ body }) => (chars += body.length) > MOST_CHARS);
    return this.#waiting.splice(0, last < 0 ? this.#waiting.length : last + 1);
  }
}

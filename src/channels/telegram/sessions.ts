import type { Conversation } from "../../conversation/conversations.ts";
import type { Log } from "../../logging/log.ts";
import type { Session } from "../channel.ts";

/** Each session has its own database connection and child processes. */
const KEPT = 4;

interface Slot {
  readonly opened: Promise<Session>;
  users: number;
}

interface SessionsOptions {
  readonly open: (model: string | null) => Promise<Session>;
  readonly log: Log;
}

export class ModelSessions {
  readonly #options: SessionsOptions;
  readonly #slots = new Map<string | null, Slot>();
  readonly #closing = new Map<string | null, Promise<void>>();
  readonly #lastOf = new Map<string, string | null>();

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  async main(): Promise<Session> {
    return await this.use(null, (session) => Promise.resolve(session));
  }

  async use<T>(model: string | null, work: (session: Session) => Promise<T>): Promise<T> {
    while (this.#closing.has(model)) await this.#closing.get(model);
    const slot = this.#slots.get(model) ?? this.#begin(model);
    return await this.#held(model, { slot, work: async (opened) => await work(await opened) });
  }

  /** Only one session may have a branch open, so another session that used the branch last closes the branch before
   * `work` runs. */
  async run<T>(
    { branchId }: Conversation,
    { model, work }: { readonly model: string | null; readonly work: (session: Session) => Promise<T> },
  ): Promise<T> {
    return await this.use(model, async (session) => {
      const last = this.#lastOf.get(branchId);
      if (last !== undefined && last !== model) await this.#leave(branchId, last);
      this.#lastOf.set(branchId, model);
      return await work(session);
    });
  }

  async close(): Promise<void> {
    for (const [model, slot] of this.#slots) this.#end(model, slot);
    await Promise.all(this.#closing.values());
  }

  async #leave(branchId: string, model: string | null): Promise<void> {
    await this.#closing.get(model);
    const slot = this.#slots.get(model);
    const close = async (opened: Promise<Session>): Promise<void> => {
      await (await opened.catch(() => null))?.conversations.close(branchId);
    };
    if (slot) await this.#held(model, { slot, work: close });
  }

  #begin(model: string | null): Slot {
    const slot = { opened: this.#options.open(model), users: 0 };
    this.#slots.set(model, slot);
    slot.opened.then(() => this.#makeRoom(), () => {
      if (this.#slots.get(model) === slot) this.#slots.delete(model);
    });
    return slot;
  }

  async #held<T>(
    model: string | null,
    { slot, work }: { readonly slot: Slot; readonly work: (opened: Promise<Session>) => Promise<T> },
  ): Promise<T> {
    slot.users++;
    try {
      return await work(slot.opened);
    } finally {
      slot.users--;
      if (this.#slots.get(model) === slot) {
        this.#slots.delete(model);
        this.#slots.set(model, slot);
      }
      this.#makeRoom();
    }
  }

  #makeRoom(): void {
    for (const [model, slot] of this.#slots) {
      if (this.#slots.size - (this.#slots.has(null) ? 1 : 0) <= KEPT) return;
      if (model !== null && slot.users === 0) this.#end(model, slot);
    }
  }

  #end(model: string | null, { opened }: Slot): void {
    this.#slots.delete(model);
    const closed = async (): Promise<void> => {
      try {
        await (await opened.catch(() => null))?.close();
      } catch (error) {
        this.#options.log.error("telegram_session_not_closed", { model, error: String(error) });
      }
      for (const [branchId, last] of this.#lastOf) if (last === model) this.#lastOf.delete(branchId);
      this.#closing.delete(model);
    };
    this.#closing.set(model, closed());
  }
}

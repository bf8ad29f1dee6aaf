import type { Conversation } from "../../conversation/conversations.ts";
import type { Session } from "../channel.ts";

/** The session of each model that a chat has chosen. A conversation lives in one of them at a time. */
export class Sessions {
  readonly #open: (model: string | null) => Promise<Session>;
  readonly #sessions = new Map<string | null, Promise<Session>>();
  /** Model that a branch was last used with. */
  readonly #lastOf = new Map<string, string | null>();

  constructor(open: (model: string | null) => Promise<Session>) {
    this.#open = open;
  }

  /** Rejects with `ConfigError` for a model that cannot be used. */
  async get(model: string | null): Promise<Session> {
    const known = this.#sessions.get(model);
    if (known) return await known;
    const opened = this.#open(model);
    this.#sessions.set(model, opened);
    opened.catch(() => this.#sessions.delete(model));
    return await opened;
  }

  /** The session to run a query of a branch in. */
  async forBranch({ branchId }: Conversation, model: string | null): Promise<Session> {
    const session = await this.get(model);
    const last = this.#lastOf.get(branchId);
    if (last !== undefined && last !== model) await (await this.get(last)).conversations.close(branchId);
    this.#lastOf.set(branchId, model);
    return session;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(async (opened) => {
      await (await opened.catch(() => null))?.close();
    }));
  }
}

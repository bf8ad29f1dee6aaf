import type { JsonValue } from "../../domain/kit/json.ts";
import type { StatePlace, StateStore } from "../../domain/records/extension_state.ts";
import type { Incoming } from "./read_update.ts";

/** The bot stores a pending message before each action that must not happen twice. */
export interface PendingMessage {
  readonly message: Incoming;
  readonly branchId?: string;
  readonly model?: string | null;
  readonly attempts?: number;
  readonly queryId?: string;
  readonly steered?: string;
  /** If true, the end of the program, not the user, interrupted the query. */
  readonly suspended?: boolean;
  readonly replies?: readonly number[];
  /** Null means that the answer replaces the progress message. */
  readonly progress?: number | null;
  readonly startedAt?: number;
  readonly replied?: boolean;
}

/** Telegram keeps updates for a day, and may restart their numbers after a week without updates. */
const MARK_MS = 3 * 86_400_000;
const MAX_ENTRIES = 5_000;
const RECENT = 300;

interface ChatSettings {
  readonly branchId: string | null;
  readonly model: string | null;
}

interface Mark {
  readonly updateId: number;
  readonly at: number;
  /** A webhook may deliver an update repeatedly, or after later updates. */
  readonly recent: readonly number[];
  readonly entries: readonly PendingMessage[];
}

export class Inbox {
  readonly #states: StateStore;
  readonly #place: StatePlace;
  readonly #now: () => number;

  /** Namespaces of extensions contain no slash, so extensions cannot use this namespace. */
  constructor(
    states: StateStore,
    { botId, now }: { readonly botId: string; readonly now: () => number },
  ) {
    this.#states = states;
    this.#place = { namespace: `channel/telegram/${botId}`, branchId: null };
    this.#now = now;
  }

  async mark(): Promise<number | null> {
    const found = await this.#get<Mark>("mark");
    return found !== null && Math.abs(this.#now() - found.at) < MARK_MS ? found.updateId : null;
  }

  async known(updateIds: readonly number[]): Promise<readonly number[]> {
    const { recent = [] } = await this.#get<Mark>("mark") ?? {};
    return updateIds.filter((id) => recent.includes(id));
  }

  /** Accepts all entries of a batch or none. The caller begins no work on the batch before `accept` resolves. */
  async accept(updateIds: readonly number[], entries: readonly PendingMessage[]): Promise<void> {
    const { recent = [] } = await this.#get<Mark>("mark") ?? {};
    const updateId = Math.max(...updateIds, await this.mark() ?? 0);
    const mark = { updateId, at: this.#now(), recent: [...recent, ...updateIds].slice(-RECENT), entries };
    await this.#put("mark", mark);
    await this.#spread(mark);
  }

  async #spread(mark: Mark): Promise<void> {
    for (const entry of mark.entries) await this.put(entry);
    if (mark.entries.length > 0) await this.#put("mark", { ...mark, at: this.#now(), entries: [] });
  }

  async put(entry: PendingMessage): Promise<void> {
    await this.#put(keyOf(entry), entry);
  }

  async remove(entry: PendingMessage): Promise<void> {
    await this.#states.delete(this.#place, keyOf(entry));
  }

  async entries(): Promise<readonly PendingMessage[]> {
    const mark = await this.#get<Mark>("mark");
    if (mark !== null) await this.#spread(mark);
    const listed = await this.#states.list(this.#place, { prefix: "update/", limit: MAX_ENTRIES });
    const found = await Promise.all(listed.map(({ key }) => this.#get<PendingMessage>(key)));
    return found.filter((entry) => entry !== null);
  }

  async chat(key: string): Promise<ChatSettings> {
    return await this.#get<ChatSettings>(`chat/${key}`) ?? { branchId: null, model: null };
  }

  async setChat(key: string, settings: ChatSettings): Promise<void> {
    await this.#put(`chat/${key}`, settings);
  }

  async moveChats(from: number, to: number): Promise<void> {
    const listed = await this.#states.list(this.#place, { prefix: `chat/${from}`, limit: MAX_ENTRIES });
    for (const { key } of listed) {
      const rest = key.slice(`chat/${from}`.length);
      if (rest !== "" && !rest.startsWith(":")) continue;
      const settings = await this.#get<ChatSettings>(key);
      if (settings !== null) await this.setChat(`${to}${rest}`, settings);
      await this.#states.delete(this.#place, key);
    }
  }

  /** The cast is safe, because only this class writes these values. */
  async #get<T>(key: string): Promise<T | null> {
    const found = await this.#states.get(this.#place, { key });
    return found?.value === undefined ? null : found.value as T;
  }

  async #put(key: string, value: object): Promise<void> {
    await this.#states.put(this.#place, { key, value: JSON.parse(JSON.stringify(value)) as JsonValue });
  }
}

function keyOf({ message }: PendingMessage): string {
  return `update/${padded(message.updateId)}`;
}

function padded(updateId: number): string {
  return String(updateId).padStart(16, "0");
}

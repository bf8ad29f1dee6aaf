import type { StatePlace, StateStore } from "../../../domain/records/extension_state.ts";
import type { JsonValue } from "../../../domain/text/json_value.ts";
import type { ChatSettings } from "./chat_settings.ts";
import type { PendingMessage } from "./entry.ts";

/** Telegram keeps updates for a day, and after a week without any it numbers them anew: an older mark says nothing. */
const MARK_MS = 3 * 86_400_000;
const MAX_ENTRIES = 5_000;
const RECENT = 300;

interface Mark {
  readonly updateId: number;
  readonly at: number;
  /** The last ones that were accepted: through a webhook they come in any order, and again. */
  readonly recent: readonly number[];
  /** Of the batch that this update ended, until each has a place of its own. */
  readonly entries: readonly PendingMessage[];
}

/** What a bot must remember over a restart, in the database: which updates it has accepted, those that are not answered
 * yet, and the conversation of each chat. An update is confirmed to Telegram only after it is here. */
export class Inbox {
  readonly #states: StateStore;
  readonly #place: StatePlace;
  readonly #now: () => number;

  /** No extension can have the namespace: it has a slash. */
  constructor(
    states: StateStore,
    { botId, now }: { readonly botId: string; readonly now: () => number },
  ) {
    this.#states = states;
    this.#place = { namespace: `channel/telegram/${botId}`, branchId: null };
    this.#now = now;
  }

  /** The highest update that was accepted, null where none is known. */
  async mark(): Promise<number | null> {
    const found = await this.#get<Mark>("mark");
    return found !== null && Math.abs(this.#now() - found.at) < MARK_MS ? found.updateId : null;
  }

  /** Of these updates, those that were accepted before. */
  async known(updateIds: readonly number[]): Promise<readonly number[]> {
    const { recent = [] } = await this.#get<Mark>("mark") ?? {};
    return updateIds.filter((id) => recent.includes(id));
  }

  /** Accepts all of a batch or nothing of it. Nothing may be begun before it resolves. */
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

  /** Those that are not answered, oldest first. What a kill left between the two steps of `accept` is among them. */
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

  /** A group has got another id: its conversations go with it. */
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

  /** This class alone writes what it reads. */
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

/** So that the order of the names is that of the numbers. */
function padded(updateId: number): string {
  return String(updateId).padStart(16, "0");
}

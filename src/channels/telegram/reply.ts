import { clip } from "../../domain/clip.ts";
import type { ChatPlace } from "./incoming.ts";
import type { Messenger } from "./messenger.ts";
import { type RichMessage, RichText } from "./rich_text.ts";
import { splitRichText } from "./split_rich_text.ts";

/** Telegram's limit of a message, in UTF-16 units. */
const MAX_CHARS = 4096;
const MAX_PARTS = 20;
const EMPTY: RichMessage = { text: "…", entities: [] };

export interface ReplyOptions {
  readonly place: ChatPlace;
  readonly replyTo: number | null;
  readonly messenger: Messenger;
  /** Messages of it that exist already. */
  readonly ids: readonly number[];
  /** Keeps them, before anything is written into a new one. */
  readonly save: (ids: readonly number[]) => Promise<void>;
}

/** The answer to one message: made of messages that are stored as soon as they exist and filled afterwards. Filling one
 * again changes nothing, so whoever comes back after a kill repeats no answer. */
export class Reply {
  readonly #options: ReplyOptions;
  #ids: readonly number[];
  #shown = "";

  constructor(options: ReplyOptions) {
    this.#options = options;
    this.#ids = options.ids;
  }

  /** Makes the first message, where there is none. */
  async open(text: string): Promise<void> {
    if (this.#ids.length === 0) await this.#make({ text, entities: [] });
    this.#shown = text;
  }

  /** Shows it in place of what the first message said, where the limits allow that now. */
  async progress(text: string): Promise<void> {
    const [messageId] = this.#ids;
    if (messageId === undefined || text === this.#shown) return;
    this.#shown = text;
    await this.#options.messenger.progress(this.#options.place, { messageId, text });
  }

  /** Writes the answer. Rejects with `TelegramError` where the chat takes none, with `Cancelled` where the program ends
   * before that. */
  async finish(whole: RichText): Promise<void> {
    const parts = splitRichText(whole, MAX_CHARS);
    const shown = parts.slice(0, MAX_PARTS);
    if (shown.length < parts.length) {
      shown.push(new RichText().add(clip(`(${parts.length - shown.length} more parts are left out)`, MAX_CHARS)));
    }
    for (const [at, part] of shown.entries()) await this.#fill(at, part.message());
  }

  async #fill(at: number, message: RichMessage): Promise<void> {
    const { messenger, place } = this.#options;
    const messageId = this.#ids[at] ?? await this.#make(EMPTY);
    if (await messenger.edit(place, { messageId, message })) return;
    // Somebody has deleted it.
    const made = await messenger.send(place, message);
    this.#ids = this.#ids.map((id, n) => n === at ? made : id);
    await this.#options.save(this.#ids);
  }

  async #make(message: RichMessage): Promise<number> {
    const { messenger, place, replyTo, save } = this.#options;
    const id = await messenger.send(place, message, { replyTo: this.#ids.length === 0 ? replyTo : null });
    this.#ids = [...this.#ids, id];
    await save(this.#ids);
    return id;
  }
}

import { clip, oneLine } from "../../../domain/text/clip.ts";
import type { PendingMessage } from "../inbound/entry.ts";
import type { ChatPlace } from "../inbound/incoming.ts";
import type { Messenger } from "./messenger.ts";
import { type RichMessage, RichText } from "../text/rich_text.ts";
import { splitRichText } from "../text/split_rich_text.ts";

/** Telegram's limit of a message, in UTF-16 units. */
const MAX_CHARS = 4096;
const MAX_PARTS = 20;
/** What a notification has room for. */
const TEASER_CHARS = 160;
const EMPTY: RichMessage = { text: "…", entities: [] };
const BELOW: RichMessage = { text: "✅ Answered below", entities: [] };

export interface ReplyOptions {
  readonly place: ChatPlace;
  readonly replyTo: number | null;
  readonly messenger: Messenger;
  /** Messages of it that exist already. */
  readonly ids: readonly number[];
  /** As an entry has it. */
  readonly progress: PendingMessage["progress"];
  /** Keeps them, before anything is written into a new one. */
  readonly save: (change: Pick<PendingMessage, "replies" | "progress">) => Promise<void>;
}

/** The answer to one message: made of messages that are stored as soon as they exist and filled afterwards. Filling one
 * again changes nothing, so whoever comes back after a kill repeats no answer. */
export class AnswerMessages {
  readonly #options: ReplyOptions;
  #ids: readonly number[];
  #progress: PendingMessage["progress"];
  #shown = "";

  constructor(options: ReplyOptions) {
    this.#options = options;
    this.#ids = options.ids;
    this.#progress = options.progress;
  }

  /** Makes the first message, where there is none. */
  async open(text: string): Promise<void> {
    if (this.#ids.length === 0 && this.#progress === undefined) await this.#make({ text, entities: [] });
    this.#shown = text;
  }

  /** Shows it in place of what the first message said, where the limits allow that now. */
  async progress(text: string): Promise<void> {
    const messageId = this.#first;
    if (messageId === undefined || text === this.#shown) return;
    this.#shown = text;
    await this.#options.messenger.progress(this.#options.place, { messageId, text });
  }

  /** Says for certain, in the first message, that the answer comes later. */
  async pause(text: string): Promise<void> {
    const { messenger, place } = this.#options;
    const messageId = this.#first;
    if (messageId !== undefined) await messenger.edit(place, { messageId, message: { text, entities: [] } });
  }

  /** Writes the answer: in place of what the first message said, or `anew`, which devices notify of, and that message is
   * removed. One sound for all of it. Rejects with `TelegramError` where the chat takes none, with `Cancelled` where the
   * program ends before that. */
  async finish(whole: RichText, { anew = false }: { readonly anew?: boolean } = {}): Promise<void> {
    const parts = splitRichText(whole, MAX_CHARS);
    const shown = parts.slice(0, MAX_PARTS);
    if (shown.length < parts.length) {
      shown.push(new RichText().add(clip(leftOut(parts.length - shown.length), MAX_CHARS)));
    }
    await this.#choose(anew);
    for (const [at, part] of shown.entries()) await this.#fill(at, part.message());
    const { messenger, place } = this.#options;
    if (typeof this.#progress !== "number" || await messenger.remove(place, this.#progress)) return;
    await messenger.edit(place, { messageId: this.#progress, message: BELOW });
  }

  /** Of the message that shows how far it is. */
  get #first(): number | undefined {
    return this.#progress ?? this.#ids[0];
  }

  /** Once: an earlier process may have written a part of the answer already. */
  async #choose(anew: boolean): Promise<void> {
    if (this.#progress !== undefined) return;
    const [first] = this.#ids;
    this.#progress = anew && first !== undefined ? first : null;
    if (this.#progress !== null) this.#ids = [];
    await this.#save();
  }

  async #fill(at: number, message: RichMessage): Promise<void> {
    const { messenger, place } = this.#options;
    const messageId = this.#ids[at] ?? await this.#make(at === 0 ? teaser(message) : EMPTY);
    if (await messenger.edit(place, { messageId, message })) return;
    // Somebody has deleted it.
    const made = await messenger.send(place, message, { silent: at > 0 });
    this.#ids = this.#ids.map((id, n) => n === at ? made : id);
    await this.#save();
  }

  async #make(message: RichMessage): Promise<number> {
    const { messenger, place, replyTo } = this.#options;
    const first = this.#ids.length === 0;
    const id = await messenger.send(place, message, first ? { replyTo } : { silent: true });
    this.#ids = [...this.#ids, id];
    await this.#save();
    return id;
  }

  async #save(): Promise<void> {
    const progress = this.#progress;
    await this.#options.save({ replies: this.#ids, ...(progress === undefined ? {} : { progress }) });
  }
}

function leftOut(count: number): string {
  return `(${count} more part${count === 1 ? " is" : "s are"} left out: vis conversations show has all of it)`;
}

/** How the answer begins: what a notification shows. The rest is filled in, since a message that is only sent once could
 * be sent twice. */
function teaser({ text }: RichMessage): RichMessage {
  return { text: `${oneLine(text, TEASER_CHARS)} …`, entities: [] };
}

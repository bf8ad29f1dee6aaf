import { clip, oneLine } from "../../../domain/kit/text.ts";
import type { PendingMessage } from "../inbound/entry.ts";
import type { ChatPlace } from "../inbound/incoming.ts";
import { type RichMessage, RichText } from "../text/rich_text.ts";
import { splitRichText } from "../text/split_rich_text.ts";
import type { Messenger } from "./messenger.ts";

/** Telegram's limit of a message in UTF-16 units. */
const MAX_CHARS = 4096;
const MAX_PARTS = 20;
/** Space in a notification. */
const TEASER_CHARS = 160;
const EMPTY: RichMessage = { text: "…", entities: [] };
const BELOW: RichMessage = { text: "✅ Answered below", entities: [] };

export interface ReplyOptions {
  readonly place: ChatPlace;
  readonly replyTo: number | null;
  readonly messenger: Messenger;
  /** Messages of the answer that already exist. */
  readonly ids: readonly number[];
  /** As in an entry. */
  readonly progress: PendingMessage["progress"];
  /** Stores them, before anything is written into a new message. */
  readonly save: (change: Pick<PendingMessage, "replies" | "progress">) => Promise<void>;
}

/** The answer to one message: a list of messages that are stored as soon as they exist and filled afterwards. Filling
 * one again changes nothing, so a restart after a kill repeats no answer. */
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

  /** Creates the first message, if there is none. */
  async open(text: string): Promise<void> {
    if (this.#ids.length === 0 && this.#progress === undefined) await this.#make({ text, entities: [] });
    this.#shown = text;
  }

  /** Replaces the text of the first message, if the limits allow it now. */
  async progress(text: string): Promise<void> {
    const messageId = this.#first;
    if (messageId === undefined || text === this.#shown) return;
    this.#shown = text;
    await this.#options.messenger.progress(this.#options.place, { messageId, text });
  }

  /** Reports in the first message that the answer comes later; retries until it is shown. */
  async pause(text: string): Promise<void> {
    const { messenger, place } = this.#options;
    const messageId = this.#first;
    if (messageId !== undefined) await messenger.edit(place, { messageId, message: { text, entities: [] } });
  }

  /** Writes the answer: into the first message, or with `anew` into new messages, which notify devices, and removes the
   * first one. Makes one sound for all of it. Rejects with `TelegramError` if the chat accepts none, and with
   * `Cancelled` if the program ends first. */
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

  /** The message that shows the progress. */
  get #first(): number | undefined {
    return this.#progress ?? this.#ids[0];
  }

  /** Decided once: an earlier process may have written part of the answer already. */
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
    // The user has deleted it.
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
  return `(${count} more part${count === 1 ? " is" : "s are"} not shown; see vis conversations show)`;
}

/** The beginning of the answer, for a notification. The rest is filled in later, since a message that is sent whole
 * could be sent twice. */
function teaser({ text }: RichMessage): RichMessage {
  return { text: `${oneLine(text, TEASER_CHARS)} …`, entities: [] };
}

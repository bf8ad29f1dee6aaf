import { backoff, type BotApi, type BotClock, type BotMethods, TelegramError } from "./bot_api.ts";
import type { ChatPlace } from "./read_update.ts";
import type { RichMessage } from "./rich_text.ts";

type ReactionEmoji = "👀" | "👌";
type SentText = Parameters<BotMethods["sendMessage"]>[0];

export interface MessageButton {
  readonly text: string;
  /** Telegram sends this text of at most 64 bytes back when a user presses the button. */
  readonly callback_data: string;
}

const NO_PREVIEW = { link_preview_options: { is_disabled: true } } as const;

export class Messenger {
  readonly #api: BotApi;
  readonly #outbox: Outbox;

  constructor({ api, outbox }: { readonly api: BotApi; readonly outbox: Outbox }) {
    this.#api = api;
    this.#outbox = outbox;
  }

  async send(
    place: ChatPlace,
    message: RichMessage,
    { replyTo = null, silent = false, buttons = [] }: {
      readonly replyTo?: number | null;
      readonly silent?: boolean;
      readonly buttons?: readonly MessageButton[];
    } = {},
  ): Promise<number> {
    const payload = {
      chat_id: place.id,
      ...(place.thread === null ? {} : { message_thread_id: place.thread }),
      ...(replyTo === null ? {} : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } }),
      ...(silent ? { disable_notification: true } : {}),
      ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: [[...buttons]] } }),
      ...NO_PREVIEW,
    };
    const once = (content: Pick<SentText, "text" | "entities">) =>
      this.#outbox.must(
        place.id,
        (signal) =>
          this.#api.call((wire, wireSignal) => wire.sendMessage({ ...payload, ...content }, wireSignal), { signal }),
      );
    return (await this.#plainly(message, once)).message_id;
  }

  async edit(place: ChatPlace, { messageId, message, buttons = [] }: {
    readonly messageId: number;
    readonly message: RichMessage;
    readonly buttons?: readonly MessageButton[];
  }): Promise<boolean> {
    try {
      await this.#plainly(
        message,
        (content) =>
          this.#outbox.must(place.id, (signal) => this.#edited(place, { messageId, content, buttons, signal })),
      );
      return true;
    } catch (error) {
      if (isRefused(error) && error.detail === "gone") return false;
      throw error;
    }
  }

  /** Resolves with false if Telegram does not allow the removal, for example after two days. */
  async remove({ id }: ChatPlace, messageId: number): Promise<boolean> {
    const payload = { chat_id: id, message_id: messageId };
    try {
      await this.#outbox.must(
        id,
        (signal) => this.#api.call((wire, own) => wire.deleteMessage(payload, own), { signal }),
      );
      return true;
    } catch (error) {
      if (!isRefused(error)) throw error;
      return error.detail === "gone";
    }
  }

  async progress(
    place: ChatPlace,
    { messageId, text }: { readonly messageId: number; readonly text: string },
  ): Promise<void> {
    await this.#outbox.try(place.id, (signal) => this.#edited(place, { messageId, content: { text }, signal }));
  }

  async notice(
    pressId: string,
    { text, signal }: { readonly text: string; readonly signal: AbortSignal },
  ): Promise<void> {
    const payload = { callback_query_id: pressId, text };
    await this.#api.call((wire, own) => wire.answerCallbackQuery(payload, own), { signal }).catch(() => {});
  }

  async typing({ id, thread }: ChatPlace, signal: AbortSignal): Promise<void> {
    const payload = {
      chat_id: id,
      action: "typing" as const,
      ...(thread === null ? {} : { message_thread_id: thread }),
    };
    await this.#api.call((wire, own) => wire.sendChatAction(payload, own), { signal }).catch(() => {});
  }

  async react({ id }: ChatPlace, { messageId, emoji, signal }: {
    readonly messageId: number;
    readonly emoji: ReactionEmoji;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const payload = { chat_id: id, message_id: messageId, reaction: [{ type: "emoji" as const, emoji }] };
    await this.#api.call((wire, own) => wire.setMessageReaction(payload, own), { signal }).catch(() => {});
  }

  async #edited(place: ChatPlace, { messageId, content, buttons = [], signal }: {
    readonly messageId: number;
    readonly buttons?: readonly MessageButton[];
    readonly content: Pick<SentText, "text" | "entities">;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const payload = {
      ...{ chat_id: place.id, message_id: messageId, ...content, ...NO_PREVIEW },
      ...(buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: [[...buttons]] } }),
    };
    try {
      await this.#api.call((wire, own) => wire.editMessageText(payload, own), { signal });
    } catch (error) {
      if (!isRefused(error) || error.detail !== "unchanged") throw error;
    }
  }

  async #plainly<T>(
    { text, entities }: RichMessage,
    once: (content: Pick<SentText, "text" | "entities">) => Promise<T>,
  ): Promise<T> {
    try {
      return await once(entities.length === 0 ? { text } : { text, entities: [...entities] });
    } catch (error) {
      if (entities.length === 0 || !isRefused(error)) throw error;
      return await once({ text });
    }
  }
}

function isRefused(error: unknown): error is TelegramError {
  return error instanceof TelegramError && error.code === "refused";
}

/** Telegram's sustained limits are one call a second for each chat, and twenty a minute for each group. */
const PRIVATE_MS = 1_000, GROUP_MS = 3_000;
const KEPT_CHATS = 1_000;

interface Lane {
  /** The calls of a chat run in sequence, so that a late progress update does not overwrite an answer. */
  tail: Promise<unknown>;
  waiting: number;
  freeAt: number;
  floodUntil: number;
}

export class Outbox {
  readonly #clock: BotClock;
  readonly #signal: AbortSignal;
  readonly #lanes = new Map<number, Lane>();

  constructor({ clock, signal }: { readonly clock: BotClock; readonly signal: AbortSignal }) {
    this.#clock = clock;
    this.#signal = signal;
  }

  must<T>(chat: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const lane = this.#lane(chat);
    return this.#queued(lane, () => this.#persist(lane, { chat, call }));
  }

  async try(chat: number, call: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const lane = this.#lane(chat);
    const now = this.#clock.now();
    if (lane.waiting > 0 || now < Math.max(lane.freeAt, lane.floodUntil)) return;
    await this.#queued(lane, () => this.#once(lane, { chat, call })).catch(() => {});
  }

  async #persist<T>(
    lane: Lane,
    what: { readonly chat: number; readonly call: (signal: AbortSignal) => Promise<T> },
  ): Promise<T> {
    for (let failures = 1;; failures++) {
      const wait = lane.floodUntil - this.#clock.now();
      if (wait > 0) await this.#clock.sleep(wait, this.#signal);
      try {
        return await this.#once(lane, what);
      } catch (error) {
        if (!(error instanceof TelegramError) || error.code !== "flood" && error.code !== "network") throw error;
        if (error.code === "network") await this.#clock.sleep(backoff(failures, this.#clock.random), this.#signal);
      }
    }
  }

  async #once<T>(
    lane: Lane,
    { chat, call }: { readonly chat: number; readonly call: (signal: AbortSignal) => Promise<T> },
  ): Promise<T> {
    try {
      return await call(this.#signal);
    } catch (error) {
      if (error instanceof TelegramError && error.code === "flood") {
        lane.floodUntil = this.#clock.now() + error.retryAfterMs;
      }
      throw error;
    } finally {
      lane.freeAt = this.#clock.now() + (chat < 0 ? GROUP_MS : PRIVATE_MS);
    }
  }

  #queued<T>(lane: Lane, run: () => Promise<T>): Promise<T> {
    lane.waiting++;
    const done = lane.tail.then(run).finally(() => lane.waiting--);
    lane.tail = done.catch(() => {});
    return done;
  }

  #lane(chat: number): Lane {
    const known = this.#lanes.get(chat);
    if (known) return known;
    const now = this.#clock.now();
    for (const [id, { waiting, freeAt, floodUntil }] of this.#lanes) {
      if (this.#lanes.size < KEPT_CHATS) break;
      if (waiting === 0 && Math.max(freeAt, floodUntil) < now) this.#lanes.delete(id);
    }
    const lane = { tail: Promise.resolve(), waiting: 0, freeAt: 0, floodUntil: 0 };
    this.#lanes.set(chat, lane);
    return lane;
  }
}

import type { BotApi } from "../api/bot_api.ts";
import type { ChatPlace } from "../inbound/incoming.ts";
import type { Outbox } from "./outbox.ts";
import type { RichMessage } from "../text/rich_text.ts";
import { TelegramError } from "../api/telegram_error.ts";
import type { BotMethods } from "../api/wire.ts";

type ReactionEmoji = "👀" | "👌";
type SentText = Parameters<BotMethods["sendMessage"]>[0];

interface MessageButton {
  readonly text: string;
  /** What Telegram sends back when it is pressed; at most 64 bytes. */
  readonly callback_data: string;
}

const NO_PREVIEW = { link_preview_options: { is_disabled: true } } as const;

/** Writes into chats. A message whose formatting Telegram refuses is sent again as plain text. */
export class Messenger {
  readonly #api: BotApi;
  readonly #outbox: Outbox;

  constructor({ api, outbox }: { readonly api: BotApi; readonly outbox: Outbox }) {
    this.#api = api;
    this.#outbox = outbox;
  }

  /** Resolves with the id of the new message; `silent` sends no sound. Rejects with `TelegramError` if the chat accepts
   * none. */
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

  /** Removes its buttons as well. False if the message no longer exists. */
  async edit(place: ChatPlace, { messageId, message }: {
    readonly messageId: number;
    readonly message: RichMessage;
  }): Promise<boolean> {
    try {
      await this.#plainly(
        message,
        (content) => this.#outbox.must(place.id, (signal) => this.#edited(place, { messageId, content, signal })),
      );
      return true;
    } catch (error) {
      if (isRefused(error) && error.detail === "gone") return false;
      throw error;
    }
  }

  /** False if Telegram does not allow removal, as after two days. */
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

  /** Shows the progress of a query, if Telegram's limits allow it now. */
  async progress(
    place: ChatPlace,
    { messageId, text }: { readonly messageId: number; readonly text: string },
  ): Promise<void> {
    await this.#outbox.try(place.id, (signal) => this.#edited(place, { messageId, content: { text }, signal }));
  }

  /** Ends the waiting of a pressed button, with a short notice. */
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

  /** Adds a reaction that shows that a message was seen. */
  async react({ id }: ChatPlace, { messageId, emoji, signal }: {
    readonly messageId: number;
    readonly emoji: ReactionEmoji;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const payload = { chat_id: id, message_id: messageId, reaction: [{ type: "emoji" as const, emoji }] };
    await this.#api.call((wire, own) => wire.setMessageReaction(payload, own), { signal }).catch(() => {});
  }

  async #edited(place: ChatPlace, { messageId, content, signal }: {
    readonly messageId: number;
    readonly content: Pick<SentText, "text" | "entities">;
    readonly signal: AbortSignal;
  }): Promise<void> {
    const payload = { chat_id: place.id, message_id: messageId, ...content, ...NO_PREVIEW };
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

/** `token`: it is refused. `conflict`: another program polls for the bot, or a webhook is set. `flood`: wait.
 * `refused`: the call itself; the same call will be refused again. `network`: anything that may pass. */
export type TelegramErrorCode = "token" | "conflict" | "flood" | "refused" | "network";

/** What Telegram tells apart by its words alone. `gone`: the message is no longer there, or no longer the bot's to edit.
 * `unchanged`: it has this text already. `webhook`: one is set, so that nobody may ask for updates. */
export type TelegramErrorDetail = "gone" | "unchanged" | "webhook" | null;

const DETAILS: readonly (readonly [words: RegExp, detail: TelegramErrorDetail])[] = [
  [/message to (edit|delete) not found|message can't be edited|MESSAGE_ID_INVALID/i, "gone"],
  [/message is not modified/i, "unchanged"],
  [/webhook/i, "webhook"],
];

/** A call of the Bot API failed. `message` has no token in it. */
export class TelegramError extends Error {
  override readonly name = "TelegramError";
  readonly code: TelegramErrorCode;
  readonly detail: TelegramErrorDetail;
  /** How long Telegram asks to wait, 0 where it does not. */
  readonly retryAfterMs: number;
  /** The id that a group has got instead. */
  readonly migratedTo: number | null;

  constructor(
    message: string,
    facts: {
      readonly code: TelegramErrorCode;
      /** Telegram's own words. */
      readonly description?: string;
      readonly retryAfterMs?: number;
      readonly migratedTo?: number | null;
    },
  ) {
    super(message);
    this.code = facts.code;
    this.detail = DETAILS.find(([words]) => words.test(facts.description ?? ""))?.[1] ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? 0;
    this.migratedTo = facts.migratedTo ?? null;
  }
}

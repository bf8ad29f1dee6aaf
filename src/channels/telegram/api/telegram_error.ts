/** `token`: the token is refused. `conflict`: another program polls for the bot, or a webhook is set. `flood`: wait.
 * `refused`: the call itself; repeating it will be refused again. `network`: anything temporary. */
export type TelegramErrorCode = "token" | "conflict" | "flood" | "refused" | "network";

/** Cases that Telegram distinguishes only by its message. `gone`: the message no longer exists, or the bot may no
 * longer edit it. `unchanged`: it already has this text. `webhook`: a webhook is set, so polling is impossible. */
export type TelegramErrorDetail = "gone" | "unchanged" | "webhook" | null;

const DETAILS: readonly (readonly [words: RegExp, detail: TelegramErrorDetail])[] = [
  [/message to (edit|delete) not found|message can't be edited|MESSAGE_ID_INVALID/i, "gone"],
  [/message is not modified/i, "unchanged"],
  [/webhook/i, "webhook"],
];

/** A call of the Bot API failed. `message` does not contain the token. */
export class TelegramError extends Error {
  override readonly name = "TelegramError";
  readonly code: TelegramErrorCode;
  readonly detail: TelegramErrorDetail;
  /** How long Telegram asks to wait; 0 if it does not. */
  readonly retryAfterMs: number;

  constructor(
    message: string,
    facts: {
      readonly code: TelegramErrorCode;
      /** Telegram's own error message. */
      readonly description?: string;
      readonly retryAfterMs?: number;
    },
  ) {
    super(message);
    this.code = facts.code;
    this.detail = DETAILS.find(([words]) => words.test(facts.description ?? ""))?.[1] ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? 0;
  }
}

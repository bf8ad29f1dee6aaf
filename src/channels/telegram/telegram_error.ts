/** `token`: it is refused. `conflict`: another program polls for the bot, or a webhook is set. `flood`: wait.
 * `refused`: the call itself; the same call will be refused again. `network`: anything that may pass. */
export type TelegramErrorCode = "token" | "conflict" | "flood" | "refused" | "network";

/** A call of the Bot API failed. `message` has no token in it. */
export class TelegramError extends Error {
  override readonly name = "TelegramError";
  readonly code: TelegramErrorCode;
  /** How long Telegram asks to wait, 0 where it does not. */
  readonly retryAfterMs: number;
  /** The id that a group has got instead. */
  readonly migratedTo: number | null;

  constructor(
    message: string,
    facts: {
      readonly code: TelegramErrorCode;
      readonly retryAfterMs?: number;
      readonly migratedTo?: number | null;
    },
  ) {
    super(message);
    this.code = facts.code;
    this.retryAfterMs = facts.retryAfterMs ?? 0;
    this.migratedTo = facts.migratedTo ?? null;
  }
}

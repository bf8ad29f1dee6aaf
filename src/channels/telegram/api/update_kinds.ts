/** The updates that the bot asks Telegram for. */
export const UPDATE_KINDS = ["message", "edited_message", "callback_query"] as const;

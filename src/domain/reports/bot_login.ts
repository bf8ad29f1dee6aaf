/** The name under which a login keeps the token of the bot. It serves no model. */
export const BOT_LOGIN = "telegram";

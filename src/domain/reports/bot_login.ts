/** The name under which `vis login` saves the bot's token. It is not a model provider. */
export const BOT_LOGIN = "telegram";

import type { Api } from "grammy/web";

/** The methods of the Bot API as the library types them. */
export type BotMethods = Api["raw"];
export type Update = Awaited<ReturnType<BotMethods["getUpdates"]>>[number];
export type Message = NonNullable<Update["message"]>;
export type Me = Awaited<ReturnType<BotMethods["getMe"]>>;
export type MessageEntity = NonNullable<Message["entities"]>[number];

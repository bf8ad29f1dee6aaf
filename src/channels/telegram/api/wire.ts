import type { Api } from "grammy/web";

/** The Bot API's methods with the library's types. */
export type BotMethods = Api["raw"];
export type Update = Awaited<ReturnType<BotMethods["getUpdates"]>>[number];
export type Message = NonNullable<Update["message"]>;
export type Me = Awaited<ReturnType<BotMethods["getMe"]>>;
export type MessageEntity = NonNullable<Message["entities"]>[number];

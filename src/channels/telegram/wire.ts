import type { Api } from "grammy/web";

/** The methods of the Bot API as the library types them. */
export type Wire = Api["raw"];
export type Update = Awaited<ReturnType<Wire["getUpdates"]>>[number];
export type Message = NonNullable<Update["message"]>;
export type Me = Awaited<ReturnType<Wire["getMe"]>>;
export type MessageEntity = NonNullable<Message["entities"]>[number];

/** A chat, or one topic of a forum. */
export interface ChatPlace {
  readonly id: number;
  readonly thread: number | null;
  readonly group: boolean;
}

export interface IncomingFile {
  readonly kind: "image" | "document";
  readonly fileId: string;
  readonly name: string;
  /** Null where Telegram did not say. */
  readonly bytes: number | null;
}

/** A message to the bot, as it is kept until it was answered. */
export interface Incoming {
  /** Of its first message: an album is several. */
  readonly updateId: number;
  readonly chat: ChatPlace;
  readonly messageId: number;
  readonly from: { readonly id: number; readonly name: string };
  /** Without the mention of the bot; "" where files came alone. */
  readonly text: string;
  /** In lower case, without "/"; `text` is what follows it then. */
  readonly command: string | null;
  readonly files: readonly IncomingFile[];
  /** Messages with the same one belong together. */
  readonly album: string | null;
  /** It says what the message of that number says now, which came before. */
  readonly edited?: boolean;
}

/** The name under which a chat is known in the database. */
export function chatKey({ id, thread }: Pick<ChatPlace, "id" | "thread">): string {
  return thread === null ? `${id}` : `${id}:${thread}`;
}

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
  /** Null if Telegram did not report it. */
  readonly bytes: number | null;
}

/** A message to the bot, stored until it is answered. */
export interface Incoming {
  /** Of its first message: an album consists of several. */
  readonly updateId: number;
  readonly chat: ChatPlace;
  readonly messageId: number;
  readonly from: { readonly id: number; readonly name: string };
  /** Without the mention of the bot; "" for files without text. */
  readonly text: string;
  /** In lower case, without "/"; `text` is then what follows it. */
  readonly command: string | null;
  readonly files: readonly IncomingFile[];
  /** Messages with the same album id belong together. */
  readonly album: string | null;
  /** It is the new text of the message of that number, which was received before. */
  readonly edited?: boolean;
}

/** The chat's name in the database. */
export function chatKey({ id, thread }: Pick<ChatPlace, "id" | "thread">): string {
  return thread === null ? `${id}` : `${id}:${thread}`;
}

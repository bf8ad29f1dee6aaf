import { clip } from "../../../domain/kit/text.ts";
import type { Me, Message, Update } from "../api/wire.ts";
import { addressedText } from "./addressed_text.ts";
import type { ChatPlace, Incoming, IncomingFile } from "./incoming.ts";
import { quotedText } from "./quoted_text.ts";

/** What an update means to the bot. `place`, `messageId` and `userId` identify the recipient of an answer. */
export type ReadUpdate =
  | { readonly kind: "message"; readonly message: Incoming; readonly reply: BotReply | null }
  | ({ readonly kind: "press" } & Press)
  | ({ readonly kind: "unfit"; readonly told: string } & Sender)
  | { readonly kind: "moved"; readonly from: number; readonly to: number }
  | { readonly kind: "nothing" };

/** A text that replies to a message of the bot. */
interface BotReply {
  readonly to: number;
  readonly text: string;
}

/** A button of a message was pressed. */
export interface Press extends Sender {
  readonly pressId: string;
  readonly data: string;
  /** Of the user. */
  readonly name: string;
}

export interface Sender {
  readonly place: ChatPlace;
  readonly messageId: number;
  readonly userId: number;
}

/** Largest photo size passed to a model. */
const PHOTO_BYTES = 5_000_000;
const NOTHING: ReadUpdate = { kind: "nothing" };

/** Content that the bot cannot read, by its field of a message. */
const UNFIT: Readonly<Record<string, string>> = {
  voice: "voice messages",
  audio: "audio",
  video: "videos",
  video_note: "video messages",
  animation: "animations",
  sticker: "stickers",
  location: "locations",
  venue: "places",
  contact: "contacts",
  poll: "polls",
  dice: "dice",
  story: "stories",
  paid_media: "paid media",
  game: "games",
  checklist: "checklists",
};

/** Reads one update without trusting that any field exists. In groups only messages addressed to the bot count. */
export function readUpdate(update: Update, me: Me): ReadUpdate {
  if (update.callback_query) return pressOf(update.callback_query);
  const message = update.message ?? update.edited_message;
  if (!message?.from || message.from.is_bot || !message.chat) return NOTHING;
  if (message.migrate_to_chat_id) return { kind: "moved", from: message.chat.id, to: message.migrate_to_chat_id };
  const place = placeOf(message);
  const sender = { place, messageId: message.message_id, userId: message.from.id };
  const told = addressedText(message, me);
  if (told === null) return NOTHING;
  const edited = !update.message;
  const unfit = Object.keys(UNFIT).find((field) => Reflect.get(message, field) !== undefined);
  if (edited && (unfit !== undefined || !isText(message))) return NOTHING;
  // An animation comes with a document of the same content.
  if (unfit !== undefined) {
    const what = `I cannot read ${UNFIT[unfit] ?? unfit}: send text, photos or documents`;
    return { kind: "unfit", told: what, ...sender };
  }
  const files = edited ? [] : filesOf(message, me);
  const text = told.command === null ? quotedText(told.text, { message, me }) : told.text;
  if (text === "" && told.command === null && files.length === 0) {
    return isText(message)
      ? { kind: "unfit", told: "Yes? Write your request in the same message", ...sender }
      : NOTHING;
  }
  return {
    kind: "message",
    reply: edited || files.length > 0 || told.command !== null ? null : replyOf(message, { me, text: told.text }),
    message: {
      updateId: update.update_id,
      chat: place,
      messageId: message.message_id,
      from: { id: message.from.id, name: clip(message.from.first_name ?? "", 60) },
      ...{ text, command: told.command, files },
      album: edited ? null : message.media_group_id ?? null,
      ...(edited ? { edited } : {}),
    },
  };
}

function pressOf({ id, from, message, data }: NonNullable<Update["callback_query"]>): ReadUpdate {
  if (!message?.chat || !from || from.is_bot || typeof data !== "string") return NOTHING;
  const place = { id: message.chat.id, thread: null, group: message.chat.type !== "private" };
  const name = clip(from.first_name ?? "", 60);
  return { kind: "press", place, messageId: message.message_id, userId: from.id, pressId: id, data, name };
}

function replyOf(
  { reply_to_message: replied }: Message,
  { me, text }: { readonly me: Me; readonly text: string },
): BotReply | null {
  return replied?.from?.id === me.id && text.trim() !== "" ? { to: replied.message_id, text } : null;
}

function placeOf({ chat, message_thread_id: thread, is_topic_message: isTopic }: Message): ChatPlace {
  return { id: chat.id, thread: isTopic && thread ? thread : null, group: chat.type !== "private" };
}

function isText({ text, caption }: Message): boolean {
  return text !== undefined || caption !== undefined;
}

/** The files of the message; if it has none, those of the message that it replies to. */
function filesOf(message: Message, me: Me): readonly IncomingFile[] {
  const own = filesIn(message);
  const replied = message.reply_to_message;
  return own.length > 0 || !replied || replied.from?.id === me.id ? own : filesIn(replied);
}

function filesIn({ photo, document }: Pick<Message, "photo" | "document">): readonly IncomingFile[] {
  const files: IncomingFile[] = [];
  const fitting = photo?.filter(({ file_size: bytes }) => (bytes ?? 0) <= PHOTO_BYTES) ?? [];
  const size = fitting.at(-1) ?? photo?.[0];
  if (size) files.push({ kind: "image", fileId: size.file_id, name: "photo.jpg", bytes: size.file_size ?? null });
  if (document) {
    const { file_id: fileId, file_name: name = "document", mime_type: mime = "", file_size: bytes = null } = document;
    const kind = /^image\/(?:png|jpeg|gif|webp)$/.test(mime) ? "image" : "document";
    files.push({ kind, fileId, name: clip(name, 100), bytes });
  }
  return files;
}

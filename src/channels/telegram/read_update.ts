import { clip } from "../../domain/kit/text.ts";
import type { Me, Message, Update } from "./bot_api.ts";

export interface ChatPlace {
  readonly id: number;
  readonly thread: number | null;
  readonly group: boolean;
}

export interface IncomingFile {
  readonly kind: "image" | "document";
  readonly fileId: string;
  readonly name: string;
  readonly bytes: number | null;
}

export interface Incoming {
  readonly updateId: number;
  readonly chat: ChatPlace;
  readonly messageId: number;
  readonly from: { readonly id: number; readonly name: string };
  readonly text: string;
  readonly command: string | null;
  readonly files: readonly IncomingFile[];
  readonly album: string | null;
  readonly edited?: boolean;
}

export function chatKey({ id, thread }: Pick<ChatPlace, "id" | "thread">): string {
  return thread === null ? `${id}` : `${id}:${thread}`;
}

export type ReadUpdate =
  | { readonly kind: "message"; readonly message: Incoming; readonly reply: BotReply | null }
  | ({ readonly kind: "press" } & Press)
  | ({ readonly kind: "unfit"; readonly told: string } & Sender)
  | { readonly kind: "moved"; readonly from: number; readonly to: number }
  | { readonly kind: "nothing" };

interface BotReply {
  readonly to: number;
  readonly text: string;
}

export interface Press extends Sender {
  readonly updateId: number;
  readonly pressId: string;
  readonly data: string;
  readonly name: string;
}

export interface Sender {
  readonly place: ChatPlace;
  readonly messageId: number;
  readonly userId: number;
}

const PHOTO_BYTES = 5_000_000;
const NOTHING: ReadUpdate = { kind: "nothing" };

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

export function readUpdate(update: Update, me: Me): ReadUpdate {
  if (update.callback_query) return pressOf(update.callback_query, update.update_id);
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
  // An animation arrives with a document of the same content.
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

function pressOf({ id, from, message, data }: NonNullable<Update["callback_query"]>, updateId: number): ReadUpdate {
  if (!message?.chat || !from || from.is_bot || typeof data !== "string") return NOTHING;
  const thread = message.is_topic_message ? message.message_thread_id ?? null : null;
  const place = { id: message.chat.id, thread, group: message.chat.type !== "private" };
  const name = clip(from.first_name ?? "", 60);
  return { kind: "press", updateId, place, messageId: message.message_id, userId: from.id, pressId: id, data, name };
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

const COMMAND = /^\/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?(?:\s+|$)/;

function addressedText(
  message: Message,
  me: Me,
): { readonly text: string; readonly command: string | null } | null {
  const text = message.text ?? message.caption ?? "";
  const command = COMMAND.exec(text);
  const [whole = "", name = "", to] = command ?? [];
  if (to !== undefined && to.toLowerCase() !== me.username.toLowerCase()) return null;
  if (command) return { text: text.slice(whole.length).trim(), command: name.toLowerCase() };
  if (message.chat.type === "private") return { text, command: null };
  const mention = mentionOf(message, me);
  const answers = message.reply_to_message?.from?.id === me.id && !isTopicStart(message);
  if (!mention && !answers) return null;
  return { text: mention ? without(text, mention) : text, command: null };
}

interface Piece {
  readonly offset: number;
  readonly length: number;
}

function mentionOf(message: Message, me: Me): Piece | null {
  const text = message.text ?? message.caption ?? "";
  const found = (message.entities ?? message.caption_entities ?? []).find((entity) => {
    if (entity.type === "text_mention") return entity.user.id === me.id;
    const named = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
    return entity.type === "mention" && named === `@${me.username.toLowerCase()}`;
  });
  return found ?? null;
}

/** In a topic, a message that answers no other message is a reply to the message that opened the topic. */
function isTopicStart({ is_topic_message: isTopic, message_thread_id: thread, reply_to_message: replied }: Message) {
  return isTopic === true && replied?.message_id === thread;
}

function without(text: string, { offset, length }: Piece): string {
  const before = text.slice(0, offset).trimEnd(), after = text.slice(offset + length).replace(/^[\s,:]+/, "");
  return before === "" ? after : `${before} ${after}`.trim();
}

const QUOTED_CHARS = 4_000;
const NAME_CHARS = 60;

type Origin = NonNullable<Message["forward_origin"]>;

function quotedText(text: string, { message, me }: { readonly message: Message; readonly me: Me }): string {
  const parts = [text, passedOn(message), quoted(message, me)];
  return text.trim() === "" && parts[2] === "" ? "" : parts.filter((part) => part.trim() !== "").join("\n\n");
}

function passedOn({ forward_origin: origin }: Message): string {
  if (!origin) return "";
  const who = clip(nameOf(origin) || "somebody", NAME_CHARS);
  return `This was forwarded; ${who} wrote it.`;
}

function nameOf(origin: Origin): string {
  switch (origin.type) {
    case "user":
      return origin.sender_user.first_name;
    case "hidden_user":
      return origin.sender_user_name;
    case "chat":
      return titleOf(origin.sender_chat);
    case "channel":
      return titleOf(origin.chat);
    default:
      return "";
  }
}

function titleOf(chat: { readonly title?: string | undefined }): string {
  return chat.title ?? "";
}

function quoted(message: Message, me: Me): string {
  const replied = message.reply_to_message;
  const own = replied?.from?.id === me.id;
  const said = message.quote?.text ?? (own ? undefined : replied?.text ?? replied?.caption);
  if (!said?.trim()) return "";
  const lines = clip(said, QUOTED_CHARS).split("\n").map((line) => `> ${line}`);
  const who = own ? "you" : clip(replied?.from?.first_name ?? "somebody", NAME_CHARS);
  return `This is a reply to what ${who} wrote:\n${lines.join("\n")}`;
}

import { clip } from "../../../domain/kit/text.ts";
import type { Me, Message } from "../api/wire.ts";

const QUOTED_CHARS = 4_000;
const NAME_CHARS = 60;

type Origin = NonNullable<Message["forward_origin"]>;

/** A text with its surroundings that the conversation cannot know: the author of a forwarded message, and what it
 * replies to, if that is a selected quote or another person's message. "" if there is neither text nor anything around
 * it. */
export function quotedText(text: string, { message, me }: { readonly message: Message; readonly me: Me }): string {
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

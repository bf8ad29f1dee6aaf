import type { Me, Message } from "../api/wire.ts";

const COMMAND = /^\/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?(?:\s+|$)/;

/** The text of a message to the bot, with its command separated; null for a message to others. In a group a message
 * counts if it mentions the bot, replies to it, or is a command that is not another bot's. */
export function addressedText(
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

/** In a topic every message replies to the one that opened it. */
function isTopicStart({ is_topic_message: isTopic, message_thread_id: thread, reply_to_message: replied }: Message) {
  return isTopic === true && replied?.message_id === thread;
}

function without(text: string, { offset, length }: Piece): string {
  const before = text.slice(0, offset).trimEnd(), after = text.slice(offset + length).replace(/^[\s,:]+/, "");
  return before === "" ? after : `${before} ${after}`.trim();
}

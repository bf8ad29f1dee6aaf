import type { Conversation } from "../../../conversation/conversations.ts";
import { UsageError } from "../../../domain/errors.ts";
import type { BotParts } from "./bot_parts.ts";
import { chatKey, type ChatPlace } from "../inbound/incoming.ts";

type Parts = Pick<BotParts, "api" | "inbox" | "sessions">;

/** The current conversation of a chat: the chosen one, otherwise its first one, which becomes the chosen one. Created
 * if there is none. */
export async function chatConversation(place: ChatPlace, parts: Parts): Promise<Conversation> {
  const { conversations } = await parts.sessions.main();
  const { branchId } = await parts.inbox.chat(chatKey(place));
  if (branchId === null) return await choose(place, { parts, suffix: "" });
  try {
    return await conversations.byId(branchId);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return await choose(place, { parts, suffix: "" }); // it was deleted
  }
}

/** Creates a conversation for a chat; the same update always yields the same conversation. */
export async function newChatConversation(
  place: ChatPlace,
  { parts, updateId }: { readonly parts: Parts; readonly updateId: number },
): Promise<Conversation> {
  return await choose(place, { parts, suffix: `/${updateId}` });
}

async function choose(
  place: ChatPlace,
  { parts, suffix }: { readonly parts: Parts; readonly suffix: string },
): Promise<Conversation> {
  const { conversations, workspace } = await parts.sessions.main();
  const key = chatKey(place);
  const branch = await conversations.records.ensure({
    title: "Telegram",
    untitled: true,
    channel: "telegram",
    externalId: `${parts.api.botId}/${key}${suffix}`,
    workspace,
  });
  await parts.inbox.setChat(key, { ...await parts.inbox.chat(key), branchId: branch.branchId });
  return branch;
}

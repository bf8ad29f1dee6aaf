import type { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import { ConversationDetailSchema } from "./schemas.ts";

/** A conversation in the format of the API. */
export async function conversationDetail(
  conversation: Conversation,
  { conversations }: Pick<HttpParts, "conversations">,
): Promise<z.infer<typeof ConversationDetailSchema>> {
  const { conversationId } = conversation;
  const branches = await conversations.branches(conversationId);
  const running = await conversations.records.running(conversationId);
  return ConversationDetailSchema.parse({ ...conversation, running, branches });
}

import type { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import type { ConversationDetailSchema } from "./schemas.ts";

/** A conversation in the format of the API. */
export async function conversationDetail(
  { conversationId, branchId, title, workspace, tenant, createdAt }: Conversation,
  { conversations }: Pick<HttpParts, "conversations">,
): Promise<z.infer<typeof ConversationDetailSchema>> {
  const branches = await conversations.branches(conversationId);
  return {
    ...{ conversationId, branchId, title, workspace, tenant, createdAt },
    running: await conversations.records.running(conversationId),
    branches: branches.map(({ branchId, parentBranchId, title, queries, createdAt }) => {
      return { branchId, parentBranchId, title, queries, createdAt };
    }),
  };
}

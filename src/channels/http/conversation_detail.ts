import type { z } from "zod";
import type { Conversation } from "../../conversation/conversations.ts";
import type { HttpParts } from "./http_parts.ts";
import type { Runs } from "./runs.ts";
import type { ConversationDetailSchema } from "./schemas.ts";

/** A conversation as the API shows it. */
export async function conversationDetail(
  { conversationId, branchId, title, workspace, createdAt }: Conversation,
  { parts, runs }: { readonly parts: Pick<HttpParts, "conversations">; readonly runs: Runs },
): Promise<z.infer<typeof ConversationDetailSchema>> {
  const branches = await parts.conversations.branches(conversationId);
  return {
    ...{ conversationId, branchId, title, workspace, createdAt },
    running: runs.queryOf(conversationId),
    branches: branches.map(({ branchId, parentBranchId, title, queries, createdAt }) => {
      return { branchId, parentBranchId, title, queries, createdAt };
    }),
  };
}

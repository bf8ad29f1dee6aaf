import type { Conversation, Conversations } from "../../../conversation/conversations.ts";
import { UsageError } from "../../../domain/errors.ts";
import { Problem } from "../response/problem.ts";

/** Throws `Problem` (404) if no conversation has that id. */
export async function findConversation(conversations: Conversations, id: string | undefined): Promise<Conversation> {
  const missing = () => new Problem(`Cannot find conversation: ${(id ?? "").slice(0, 100)}`, { kind: "not-found" });
  if (!/^[0-9a-f-]{8,36}$/.test(id ?? "")) throw missing();
  try {
    return await conversations.byId(id ?? "");
  } catch (error) {
    throw error instanceof UsageError ? missing() : error;
  }
}

import type { Conversation, Conversations } from "../../../conversation/conversations.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import { Problem } from "../response/problem.ts";

/** A query of a conversation, by its whole id. Throws `Problem` (404) where there is none. */
export async function findQuery(
  conversations: Conversations,
  { conversation, queryId }: { readonly conversation: Conversation; readonly queryId: string | undefined },
): Promise<StoredQuery> {
  const found = (await conversations.queries(conversation)).find((query) => query.queryId === queryId);
  if (found) return found;
  throw new Problem(`Cannot find query: ${(queryId ?? "").slice(0, 100)}`, { kind: "not-found" });
}

import type { Conversation, Conversations } from "../../../conversation/conversations.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import { Problem } from "../response/problem.ts";

/** Finds a query of a conversation by its full id. Throws `Problem` (404) if there is none. */
export async function findQuery(
  conversations: Conversations,
  { conversation, queryId }: { readonly conversation: Conversation; readonly queryId: string | undefined },
): Promise<StoredQuery> {
  const found = (await conversations.queries(conversation)).find((query) => query.queryId === queryId);
  if (found) return found;
  throw new Problem(`Cannot find query: ${(queryId ?? "").slice(0, 100)}`, { kind: "not-found" });
}

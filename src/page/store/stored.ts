import { inApi, json } from "./api.ts";
import type { ConversationDetail, QueryPage } from "./api_types.ts";

/** Queries that are fetched at a time. */
const PAGE = 30;

export async function storedConversation(id: string): Promise<ConversationDetail> {
  return await json(inApi("conversations", id));
}

/** The newest queries of a conversation, or the newest of as many of the oldest as `before` says. */
export async function storedQueries(
  id: string,
  { limit = PAGE, before = null }: { readonly limit?: number; readonly before?: number | null } = {},
): Promise<QueryPage> {
  const from = before === null ? "" : `&before=${before}`;
  return await json(`${inApi("conversations", id, "queries")}?answers=tree&limit=${limit}${from}`);
}

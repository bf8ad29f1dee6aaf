import { UsageError } from "../domain/errors.ts";
import type { ConversationStore } from "../persistence/store/conversation_store.ts";

/** Newest conversations to search for the prefix; ids made in the same minute begin alike. */
const NEWEST = 200;
/** Fewest characters of a prefix. */
const FEWEST = 8;
/** Enough characters to distinguish conversations that were not made in the same millisecond. */
const SHOWN = 13;

/** Explains why no conversation matches an id or a prefix. */
export async function notFound(id: string, store: Pick<ConversationStore, "listConversations">): Promise<UsageError> {
  const start = id.toLowerCase();
  if (start.length < FEWEST) {
    return new UsageError(`Cannot find conversation: ${id} (an id has ${FEWEST} characters or more)`);
  }
  const listed = await store.listConversations({ limit: NEWEST });
  const near = [...new Set(listed.map(({ conversationId }) => conversationId))].filter((one) => one.startsWith(start));
  if (near.length < 2) return new UsageError(`Cannot find conversation: ${id}`);
  const examples = near.slice(0, 3).map((one) => start.length < SHOWN ? one.slice(0, SHOWN) : one).join(", ");
  return new UsageError(`Cannot tell conversations apart by ${id}: ${near.length} start with it, such as ${examples}`);
}

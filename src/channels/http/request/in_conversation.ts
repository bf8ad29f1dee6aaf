import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { UsageError } from "../../../domain/errors.ts";
import type { Conversation, Conversations } from "../../../conversation/conversations.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import { Problem } from "../response/problem.ts";
import type { Env } from "./env.ts";

/** What `read` finds. Throws `Problem` (404) if that is nothing: `what` cannot be found. */
export async function existing<T>(what: string, read: () => Promise<T | null | undefined>): Promise<T> {
  const found = await read().catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
  });
  if (found !== null && found !== undefined) return found;
  throw new Problem(`Cannot find ${what}`, { kind: "not-found" });
}

/** Throws `Problem` (404) if no conversation has that id. */
export async function findConversation(conversations: Conversations, id = ""): Promise<Conversation> {
  const isId = /^[0-9a-f-]{8,36}$/.test(id);
  return await existing(`conversation: ${id.slice(0, 100)}`, async () => isId ? await conversations.byId(id) : null);
}

/** Finds a query of the request's conversation by its full id, in whichever branch, and also if another run has replaced
 * it. Of one that the branch of the request shows in part, it is that part. Throws `Problem` (404) if there is none. */
export async function findQuery(c: Context<Env>, queryId = ""): Promise<StoredQuery> {
  return await existing(`query: ${queryId.slice(0, 100)}`, async () => {
    const { conversations } = c.env.parts;
    const query = await conversations.records.query(queryId);
    const branches = query ? await conversations.branches(c.var.conversation.conversationId) : [];
    if (!query || !branches.some(({ branchId }) => branchId === query.branchId)) return null;
    if (query.branchId === c.var.conversation.branchId) return query;
    const shown = await conversations.queries(c.var.conversation);
    return shown.find((one) => one.queryId === query.queryId) ?? query;
  });
}

/** Sets `conversation` to the one of the path. */
export const inConversation = createMiddleware<Env>(async (c, next) => {
  c.set("conversation", await findConversation(c.env.parts.conversations, c.req.param("id")));
  await next();
});

/** Sets `conversation` and `query` to those of the path. */
export const inQuery = createMiddleware<Env>(async (c, next) => {
  c.set("conversation", await findConversation(c.env.parts.conversations, c.req.param("id")));
  c.set("query", await findQuery(c, c.req.param("queryId")));
  await next();
});

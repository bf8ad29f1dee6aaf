import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { UsageError } from "../../../domain/errors.ts";
import type { Conversation, Conversations } from "../../../conversation/conversations.ts";
import type { StoredQuery } from "../../../domain/query/stored_query.ts";
import { Problem } from "../response/problem.ts";
import type { Env } from "./env.ts";

/** Throws `Problem` (404) if no conversation has that id. */
export async function findConversation(conversations: Conversations, id = ""): Promise<Conversation> {
  const missing = () => new Problem(`Cannot find conversation: ${id.slice(0, 100)}`, { kind: "not-found" });
  if (!/^[0-9a-f-]{8,36}$/.test(id)) throw missing();
  try {
    return await conversations.byId(id);
  } catch (error) {
    throw error instanceof UsageError ? missing() : error;
  }
}

/** Finds a query of the request's conversation by its full id. Throws `Problem` (404) if there is none. */
export async function findQuery(c: Context<Env>, queryId = ""): Promise<StoredQuery> {
  const queries = await c.env.parts.conversations.queries(c.var.conversation);
  const found = queries.find((query) => query.queryId === queryId);
  if (found) return found;
  throw new Problem(`Cannot find query: ${queryId.slice(0, 100)}`, { kind: "not-found" });
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

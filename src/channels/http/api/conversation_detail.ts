import { createHash } from "node:crypto";
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { z } from "zod";
import type { Conversation } from "../../../conversation/conversations.ts";
import { Semaphore } from "../../../domain/kit/concurrency.ts";
import type { Env } from "../request/env.ts";
import { inConversation } from "../request/in_conversation.ts";
import { Problem } from "../response/problem.ts";
import { ConversationDetailSchema } from "./schemas.ts";

const CHANGES = new Semaphore();

interface TaggedDetail {
  readonly detail: z.infer<typeof ConversationDetailSchema>;
  readonly etag: string;
}

/** A conversation in the format of the API, with the strong entity tag that If-Match is compared with. */
export async function taggedDetail(c: Context<Env>, conversation: Conversation): Promise<TaggedDetail> {
  const { conversations } = c.env.parts;
  const { conversationId } = conversation;
  const branches = await conversations.branches(conversationId);
  const running = await conversations.records.running(conversationId);
  const detail = ConversationDetailSchema.parse({ ...conversation, running, branches });
  const digest = createHash("sha256").update(JSON.stringify(detail)).digest("base64url");
  return { detail, etag: `"${digest.slice(0, 22)}"` };
}

/** Sets `conversation`, and throws `Problem` (412) if If-Match does not match its current state. Changes are made one
 * after the other, so that no other change happens between this check and the change. */
export const ifMatch = createMiddleware<Env>((c, next) =>
  CHANGES.run(() =>
    inConversation(c, async () => {
      const wanted = c.req.header("if-match") ?? "*";
      if (wanted === "*") return await next();
      const { etag } = await taggedDetail(c, c.var.conversation);
      if (wanted.split(",").some((one) => one.trim() === etag)) return await next();
      throw new Problem("Cannot change the conversation: it does not match If-Match", {
        kind: "changed",
        headers: { etag },
      });
    })
  )
);

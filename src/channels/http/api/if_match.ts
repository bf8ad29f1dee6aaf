import { createMiddleware } from "hono/factory";
import { Semaphore } from "../../../domain/kit/semaphore.ts";
import type { Env } from "../request/env.ts";
import { inConversation } from "../request/in_conversation.ts";
import { entityTag } from "../response/entity_tag.ts";
import { Problem } from "../response/problem.ts";
import { conversationDetail } from "./conversation_detail.ts";

const CHANGES = new Semaphore();

/** Sets `conversation`, and throws `Problem` (412) if If-Match does not match its current state. Changes are made one
 * after the other, so that no other change happens between this check and the change. */
export const ifMatch = createMiddleware<Env>((c, next) =>
  CHANGES.run(async () => {
    await inConversation(c, async () => {
      const wanted = c.req.header("if-match");
      if (wanted !== undefined && wanted !== "*") {
        const tag = entityTag(JSON.stringify(await conversationDetail(c.var.conversation, c.env.parts)));
        if (!wanted.split(",").some((one) => one.trim() === tag)) {
          throw new Problem("Cannot change the conversation: it does not match If-Match", {
            kind: "changed",
            headers: { etag: tag },
          });
        }
      }
      await next();
    });
  })
);

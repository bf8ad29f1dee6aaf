import type { Conversation } from "../../../conversation/conversations.ts";
import { Semaphore } from "../../../domain/kit/semaphore.ts";
import { conversationDetail } from "./conversation_detail.ts";
import { entityTag, namesTag } from "../response/entity_tag.ts";
import { findConversation } from "../request/find_conversation.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import { Problem } from "../response/problem.ts";
import type { RouteCall } from "../routing/route.ts";

/** Runs changes of conversations one after the other, so that no other change happens between the If-Match check and
 * its change. */
export class Changes {
  readonly #parts: Pick<HttpParts, "conversations">;
  readonly #lock = new Semaphore();

  constructor(parts: Pick<HttpParts, "conversations">) {
    this.#parts = parts;
  }

  /** Throws `Problem`: 404, and 412 if If-Match does not match the current state of the conversation. */
  async change<T>(
    { params, headers }: Pick<RouteCall, "params" | "headers">,
    work: (conversation: Conversation) => Promise<T>,
  ): Promise<T> {
    return await this.#lock.run(async () => {
      const conversation = await findConversation(this.#parts.conversations, params["id"]);
      const wanted = headers.get("if-match");
      if (wanted !== null) await this.#check(conversation, wanted);
      return await work(conversation);
    });
  }

  async #check(conversation: Conversation, wanted: string): Promise<void> {
    const tag = entityTag(JSON.stringify(await conversationDetail(conversation, this.#parts)));
    if (namesTag(wanted, tag, { weak: false })) return;
    throw new Problem("Cannot change the conversation: it does not match If-Match", {
      kind: "changed",
      headers: { etag: tag },
    });
  }
}

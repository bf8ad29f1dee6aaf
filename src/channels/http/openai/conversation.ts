import type { Context } from "hono";
import type { AskTarget } from "../../../conversation/send_options.ts";
import type { Env } from "../request/env.ts";
import { findConversation } from "../request/in_conversation.ts";
import type { HttpParts } from "../routing/http_parts.ts";

/** Names the conversation, in requests and in responses. */
export const CONVERSATION_HEADER = "x-vis-conversation";

/** Request headers of the calls that run a query. */
export const OPENAI_HEADERS = {
  "X-Vis-Conversation": "The conversation to continue; a new one by default",
  "Idempotency-Key": "Requests with the same key and body run once, also if the client disconnects; kept for a day",
};

/** The conversation that a client wants to continue; null for none. */
export function namedConversation(
  c: Context<Env>,
  { metadata }: { readonly metadata?: Readonly<Record<string, unknown>> | null | undefined },
): string | null {
  const id = c.req.header(CONVERSATION_HEADER) ?? metadata?.["conversation"];
  return id === undefined || id === null || id === "" ? null : String(id);
}

/** The conversation of that id, or a new one. */
export async function openAiTarget(id: string | null, { conversations, workspace }: HttpParts): Promise<AskTarget> {
  return id === null ? { channel: "openai", workspace } : await findConversation(conversations, id);
}

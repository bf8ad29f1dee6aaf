import type { AskTarget } from "../../../conversation/send_options.ts";
import { findConversation } from "../request/find_conversation.ts";
import type { HttpParts } from "../routing/http_parts.ts";
import type { RouteCall } from "../routing/route.ts";

/** Names the conversation, in requests and in responses. */
export const CONVERSATION_HEADER = "x-vis-conversation";

/** The conversation that a client wants to continue; null for none. */
export function namedConversation(
  { headers, body }: {
    readonly headers: RouteCall["headers"];
    readonly body: { readonly metadata?: Readonly<Record<string, unknown>> | null | undefined };
  },
): string | null {
  const id = headers.get(CONVERSATION_HEADER) ?? body.metadata?.["conversation"];
  return id === undefined || id === null || id === "" ? null : String(id);
}

/** The conversation of that id, or a new one. */
export async function openAiTarget(id: string | null, { conversations, workspace }: HttpParts): Promise<AskTarget> {
  return id === null ? { channel: "openai", workspace } : await findConversation(conversations, id);
}

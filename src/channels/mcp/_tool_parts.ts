import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Conversation, Conversations } from "../../conversation/conversations.ts";
import { UsageError } from "../../domain/errors.ts";

/** Dependencies of the tools. The caller that provides them closes them, after the server. */
export interface McpParts {
  readonly conversations: Conversations;
  /** Real path; new conversations belong to it. */
  readonly workspace: string;
}

/** The conversation of an id, or the newest one of the workspace. Throws `UsageError` if there is none. */
export async function conversationOf(
  id: string | undefined,
  { conversations, workspace }: McpParts,
): Promise<Conversation> {
  const found = id === undefined ? await conversations.latest(workspace) : await conversations.byId(id);
  if (found) return found;
  throw new UsageError(`Cannot find a conversation in ${workspace}: there is none yet, ask something first`);
}

/** A tool result: the same facts as data, and as text for clients that read only text. */
export function toolText(facts: Record<string, unknown>, text: string = JSON.stringify(facts)): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: facts };
}

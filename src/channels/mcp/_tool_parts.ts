import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Conversation, Conversations } from "../../conversation/conversations.ts";
import { UsageError } from "../../domain/errors.ts";

/** What the tools work with. Whoever gives it closes it, after the server. */
export interface McpParts {
  readonly conversations: Conversations;
  /** Real path; new conversations belong to it. */
  readonly workspace: string;
}

/** The conversation of an id, or the newest of the workspace. Throws `UsageError` where there is none. */
export async function conversationOf(
  id: string | undefined,
  { conversations, workspace }: McpParts,
): Promise<Conversation> {
  const found = id === undefined ? await conversations.latest(workspace) : await conversations.byId(id);
  if (found) return found;
  throw new UsageError(`Cannot find a conversation in ${workspace}: there is none yet, ask something first`);
}

/** A result of a tool: the same facts as data, and as text for clients that read nothing else. */
export function toolText(facts: Record<string, unknown>, text: string = JSON.stringify(facts)): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: facts };
}

import type { CallToolResult } from "@modelcontextprotocol/server";
import type { Conversation } from "../../conversation/conversations.ts";
import { UsageError } from "../../domain/errors.ts";
import type { Session } from "../channel.ts";

/** The workspace is where new conversations belong. */
export type Opened = Pick<Session, "conversations" | "workspace">;

/** Dependencies of the tools. The caller that provides them closes them, after the server. */
export interface McpParts {
  /** Opens Vis, or returns what is open. A failure is the result of the call that needs it, so that the user of a client
   * that hides stderr reads it, and the next call tries again. */
  readonly open: () => Promise<Opened>;
}

/** The conversation of an id, or the newest one of the workspace. Throws `UsageError` if there is none. */
export async function conversationOf(
  id: string | undefined,
  { conversations, workspace }: Opened,
): Promise<Conversation> {
  const found = id === undefined ? await conversations.latest(workspace) : await conversations.byId(id);
  if (found) return found;
  throw new UsageError(`Cannot find a conversation in ${workspace}: there is none yet, ask something first`);
}

/** A tool result: the same facts as data, and as text for clients that read only text. */
export function toolText(facts: Record<string, unknown>, text: string = JSON.stringify(facts)): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: facts };
}

import { McpServer } from "@modelcontextprotocol/server";
import { addAskTools } from "./_add_ask_tools.ts";
import { addConversationResources } from "./_add_conversation_resources.ts";
import { addReadTools } from "./_add_read_tools.ts";
import type { McpParts } from "./_tool_parts.ts";

const INSTRUCTIONS = "Vis is an agent with its own sandbox and a memory of its own. Use `ask` for a task, `continue` " +
  "for what follows from it, and `search` and `variables` to look at what was found before: these cost nothing.";

/** Vis as a server of the Model Context Protocol, for one connection. */
export function mcpServer({ version, ...parts }: McpParts & { readonly version: string }): McpServer {
  const server = new McpServer({ name: "vis", title: "Vis", version }, { instructions: INSTRUCTIONS });
  addAskTools(server, parts);
  addReadTools(server, parts);
  addConversationResources(server, parts);
  return server;
}

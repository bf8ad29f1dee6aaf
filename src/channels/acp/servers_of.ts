import type { McpServer } from "@agentclientprotocol/sdk";
import { UsageError } from "../../domain/errors.ts";

type Servers = Readonly<Record<string, object>>;

/** The servers that an editor offers, as settings: a program or an address by name. Their programs run behind the same
 * wall as all others, but with the network and the workspace, since the user configured them in the editor. */
export function offeredServers(offered: readonly McpServer[]): Servers {
  const servers = new Map<string, object>();
  for (const server of offered) servers.set(freeName(server.name, servers), settingsOf(server));
  return Object.fromEntries(servers);
}

function settingsOf(server: McpServer): object {
  if (!("type" in server)) {
    return { command: server.command, args: server.args, env: record(server.env), network: true, write: ["."] };
  }
  if (server.type === "http") return { url: server.url, headers: record(server.headers) };
  throw new UsageError(`Cannot use MCP server ${server.name}: Vis speaks stdio and HTTP, not ${server.type}`);
}

function freeName(given: string, taken: ReadonlyMap<string, object>): string {
  const name = given.replace(/[^\w-]/g, "_").replace(/^(?![A-Za-z])/, "mcp_").slice(0, 38);
  let at = 1;
  while (taken.has(at === 1 ? name : `${name}${at}`)) at++;
  return at === 1 ? name : `${name}${at}`;
}

function record(pairs: readonly { readonly name: string; readonly value: string }[]): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

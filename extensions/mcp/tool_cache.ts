import { createHash } from "node:crypto";
import type { EnvironmentView } from "@vis/extension";
import type { ServerConfig } from "./server_config.ts";
import { toTools } from "./list_tools.ts";
import type { McpTool } from "./tool.ts";

/** Keys are few: old ones of servers that were removed may stay. */
const GLOBAL = { scope: "global" } as const;

/** Tools of servers as last seen, in all conversations: with them, an alias has its functions before the server is
 * started. Contains no secrets; failures are ignored. */
export class ToolCache {
  readonly #store: EnvironmentView["store"];

  constructor({ store }: Pick<EnvironmentView, "store">) {
    this.#store = store;
  }

  /** Null if they were never seen, or if the server's configuration has changed. */
  async read(name: string, config: ServerConfig): Promise<readonly McpTool[] | null> {
    const found: unknown = await this.#store?.get(keyOf(name, config), GLOBAL).catch(() => null);
    return Array.isArray(found) && found.every(isTool) ? toTools(found) : null;
  }

  async write(
    name: string,
    { config, tools }: { readonly config: ServerConfig; readonly tools: readonly McpTool[] },
  ): Promise<void> {
    const kept = JSON.parse(JSON.stringify(tools.map(({ symbol: _, ...tool }) => tool)));
    await this.#store?.put(keyOf(name, config), kept, GLOBAL).catch(() => {}); // the next conversation asks the server
  }
}

/** Depends on everything that determines the tools, but not on headers and variables. */
function keyOf(name: string, config: ServerConfig): string {
  const facts = "url" in config ? [config.url] : [config.command, ...config.args];
  return `tools/${createHash("sha256").update(JSON.stringify([name, ...facts])).digest("hex").slice(0, 32)}`;
}

function isTool(value: unknown): value is McpTool {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string" &&
    (!("description" in value) || typeof value.description === "string");
}

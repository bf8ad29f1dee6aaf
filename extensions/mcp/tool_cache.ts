import { createHash } from "node:crypto";
import type { ServerConfig } from "./server_config.ts";
import { toTools } from "./list_tools.ts";
import type { McpTool } from "./tool.ts";

const MAX_BYTES = 4 << 20;

/** Tools of servers as last seen, stored in Vis's own folder: with them, an alias has its functions before the server
 * is started. Contains no secrets; failures are ignored. */
export class ToolCache {
  readonly #folder: string | null;

  constructor(home: string | null | undefined) {
    this.#folder = home ? `${home}/cache/mcp` : null;
  }

  /** Null if they were never seen, or if the server's configuration has changed. */
  async read(name: string, config: ServerConfig): Promise<readonly McpTool[] | null> {
    if (this.#folder === null) return null;
    try {
      const path = this.#path(name, config);
      if ((await Deno.stat(path)).size > MAX_BYTES) return null;
      const found: unknown = JSON.parse(await Deno.readTextFile(path));
      return Array.isArray(found) && found.every(isTool) ? toTools(found) : null;
    } catch {
      return null;
    }
  }

  async write(
    name: string,
    { config, tools }: { readonly config: ServerConfig; readonly tools: readonly McpTool[] },
  ): Promise<void> {
    if (this.#folder === null) return;
    try {
      const text = JSON.stringify(tools.map(({ symbol: _, ...tool }) => tool));
      const path = this.#path(name, config);
      if (text.length > MAX_BYTES / 4 || text === await Deno.readTextFile(path).catch(() => "")) return;
      await Deno.mkdir(this.#folder, { recursive: true });
      const fresh = `${path}.${crypto.randomUUID()}.new`;
      await Deno.writeTextFile(fresh, text, { createNew: true, mode: 0o600 });
      await Deno.rename(fresh, path);
    } catch { /* the next conversation asks the server */ }
  }

  /** Depends on everything that determines the tools, but not on headers and variables. */
  #path(name: string, config: ServerConfig): string {
    const facts = "url" in config ? [config.url] : [config.command, ...config.args];
    const hash = createHash("sha256").update(JSON.stringify([name, ...facts])).digest("hex");
    return `${this.#folder}/${hash.slice(0, 32)}.json`;
  }
}

function isTool(value: unknown): value is McpTool {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string" &&
    (!("description" in value) || typeof value.description === "string");
}

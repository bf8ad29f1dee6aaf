import type { EnvironmentView, Extension } from "@vis/extension";
import { enabledServers } from "./server_config.ts";
import { serverExtension } from "./server_extension.ts";
import { ToolCache } from "./tool_cache.ts";

/** Servers whose functions are available in an environment's running query. */
const BOUND = new Map<string, ReadonlySet<string>>();

/** One alias per server whose tools are cached; does not start servers. */
export async function aliases(env: EnvironmentView): Promise<readonly Extension[]> {
  const cache = new ToolCache(env);
  const found: Extension[] = [];
  const bound = new Set<string>();
  for (const [name, config] of enabledServers(env.config)) {
    const tools = await cache.read(name, config);
    if (tools === null || tools.length === 0) continue;
    bound.add(name);
    const { config: settings } = env;
    found.push(serverExtension(name, {
      tools,
      call: async (own, tool, args) => {
        const { callByAlias } = await import("./calls.ts");
        return await callByAlias(own, name, { tool, args, settings });
      },
    }));
  }
  if (!BOUND.has(env.envId)) env.closed?.addEventListener("abort", () => BOUND.delete(env.envId), { once: true });
  BOUND.set(env.envId, bound);
  return found;
}

/** Whether `github.create_issue` can be called in this query. */
export function isBound(envId: string, server: string): boolean {
  return BOUND.get(envId)?.has(server) ?? false;
}

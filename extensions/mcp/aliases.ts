import { serversOf } from "./repository_servers.ts";
import { aliasName, argumentText, type McpTool, resultType, ToolCache, toolDoc } from "./tools.ts";
import { type EnvironmentView, type Extension, fn, type FunctionOptions, z } from "@vis/extension";

const BOUND = new Map<string, ReadonlySet<string>>();

type CallByAlias = (
  env: EnvironmentView,
  server: string,
  call: { readonly tool: string; readonly args: Readonly<Record<string, unknown>>; readonly settings: unknown },
) => Promise<unknown>;

export async function aliases(env: EnvironmentView, callByAlias: CallByAlias): Promise<readonly Extension[]> {
  const cache = new ToolCache(env);
  const found: Extension[] = [];
  const bound = new Set<string>();
  for (const [name, config] of await serversOf(env)) {
    const tools = await cache.read(name, config);
    if (tools === null || tools.length === 0) continue;
    bound.add(name);
    const { config: settings } = env;
    found.push(serverExtension(name, {
      tools,
      call: (own, tool, args) => callByAlias(own, name, { tool, args, settings }),
    }));
  }
  if (!BOUND.has(env.envId)) env.closed?.addEventListener("abort", () => BOUND.delete(env.envId), { once: true });
  BOUND.set(env.envId, bound);
  return found;
}

export function isBound(envId: string, server: string): boolean {
  return BOUND.get(envId)?.has(server) ?? false;
}

type Call = (env: EnvironmentView, tool: string, args: Readonly<Record<string, unknown>>) => Promise<unknown>;

function serverExtension(
  server: string,
  { tools, call }: { readonly tools: readonly McpTool[]; readonly call: Call },
): Extension {
  const alias = aliasName(server);
  return {
    namespace: `vis.mcp.${alias.replace(/[^A-Za-z0-9_-]/g, "_").replace(/^(?=[^A-Za-z])/, "s")}`,
    alias: { ns: `vis.ext.mcp.${alias.replace(/[^A-Za-z0-9_-]/g, "_").replace(/^(?=[^A-Za-z])/, "s")}`, alias },
    doc: `Tools of the MCP server ${server}; await mcp.tools(${JSON.stringify(server)}) shows them.`,
    group: "mcp",
    version: "0.1.0",
    shown: 0,
    symbols: tools.map((tool) =>
      fn(
        tool.symbol,
        async (env: EnvironmentView, args: Readonly<Record<string, unknown>> = {}) => await call(env, tool.name, args),
        {
          doc: toolDoc(tool),
          untimed: true,
          action: actionOf(server, tool.name),
          args: argumentsOf(tool),
          returns: resultType(tool),
        },
      )
    ),
  };
}

function actionOf(server: string, tool: string): NonNullable<FunctionOptions["action"]> {
  return { doing: `calling ${server} ${tool}`, done: `called ${server} ${tool}`, things: "times", named: 0 };
}

function argumentsOf(tool: McpTool): z.ZodType {
  const text = argumentText(tool);
  const at = text.indexOf(": ");
  const type = at < 0 ? "object" : text.slice(at + 2);
  const args = z.record(z.string(), z.unknown()).describe("args").meta({ tsType: type });
  return z.tuple([text.startsWith("args:") ? args : args.optional()]);
}

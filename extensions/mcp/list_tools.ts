import type { Client } from "@modelcontextprotocol/client";
import type { McpTool } from "./tool.ts";
import { symbolNames } from "./tool_names.ts";

const MOST_TOOLS = 1_000, MAX_DESCRIPTION = 4_000, MAX_SCHEMA = 100_000;

/** The tools of a server, without duplicate names. */
export async function listTools(
  client: Client,
  options: { readonly timeout: number },
): Promise<readonly McpTool[]> {
  if (!client.getServerCapabilities()?.tools) return []; // the library would print a note to standard output
  const { tools } = await client.listTools(undefined, { ...options, cacheMode: "bypass" });
  return toTools(tools);
}

/** Bounded, whatever the server or a file contains. */
export function toTools(
  listed: readonly {
    readonly name: string;
    readonly description?: string | undefined;
    readonly inputSchema?: unknown;
    readonly outputSchema?: unknown;
    readonly annotations?: { readonly destructiveHint?: boolean | undefined } | undefined;
    readonly destructive?: boolean;
  }[],
): readonly McpTool[] {
  const tools = [...new Map(listed.slice(0, MOST_TOOLS).map((tool) => [tool.name, tool])).values()];
  const symbols = symbolNames(tools.map(({ name }) => name));
  return tools.map(({ name, description = "", inputSchema, outputSchema, annotations, destructive }) => ({
    name,
    symbol: symbols.get(name) ?? name,
    description: description.slice(0, MAX_DESCRIPTION),
    inputSchema: small(inputSchema) ?? { type: "object" },
    ...(annotations?.destructiveHint === true || destructive === true ? { destructive: true } : {}),
    ...(small(outputSchema) === undefined ? {} : { outputSchema }),
  }));
}

function small(schema: unknown): unknown {
  return schema !== undefined && JSON.stringify(schema).length <= MAX_SCHEMA ? schema : undefined;
}

import type { Client } from "@modelcontextprotocol/client";
import { z } from "@vis/extension";
import type { McpTool } from "./tool.ts";
import { symbolNames } from "./tool_names.ts";

const MOST_TOOLS = 1_000, MAX_DESCRIPTION = 4_000, MAX_SCHEMA = 100_000;

const MOST_PAGES = 64, MOST_NAMED = 20, MAX_NAME = 100;

export interface ListedTools {
  /** Without duplicate names. */
  readonly tools: readonly McpTool[];
  /** Names of tools that cannot be called, since their descriptions cannot be read. */
  readonly unusable: readonly string[];
}

/** The tools of a server. */
export async function listTools(client: Client, options: { readonly timeout: number }): Promise<ListedTools> {
  if (!client.getServerCapabilities()?.tools) return { tools: [], unusable: [] }; // the library would print a note
  try {
    const { tools } = await client.listTools(undefined, { ...options, cacheMode: "bypass" });
    return { tools: toTools(tools), unusable: [] };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "INVALID_RESULT")) throw error;
    return await readableTools(client, options);
  }
}

const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });
/** What is needed of a tool. Servers write null for what is absent, and schemas of results that are no objects. */
const Readable = z.object({
  name: z.string().min(1),
  description: orAbsent(z.string()),
  inputSchema: orAbsent(z.looseObject({ type: z.literal("object").optional() })),
  outputSchema: orAbsent(z.looseObject({})),
  annotations: orAbsent(z.object({ destructiveHint: orAbsent(z.boolean()) })),
});

function orAbsent<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** For a list that the library refuses as a whole because of one tool. */
async function readableTools(client: Client, options: { readonly timeout: number }): Promise<ListedTools> {
  const tools: z.infer<typeof Readable>[] = [], unusable: string[] = [];
  let params: { cursor: string } | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await client.request({ method: "tools/list", params }, Page, options);
    for (const [at, tool] of page.tools.entries()) {
      const read = Readable.safeParse(tool);
      if (read.success) tools.push(read.data);
      else if (unusable.length < MOST_NAMED) unusable.push(nameOf(tool) ?? `number ${at + 1}`);
    }
    if (!page.nextCursor) break;
    params = { cursor: page.nextCursor };
  }
  return { tools: toTools(tools), unusable };
}

function nameOf(tool: unknown): string | null {
  const name: unknown = typeof tool === "object" && tool !== null ? Reflect.get(tool, "name") : null;
  return typeof name === "string" ? name.slice(0, MAX_NAME) : null;
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

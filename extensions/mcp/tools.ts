import type { ServerConfig } from "./settings.ts";
import type { Client } from "@modelcontextprotocol/client";
import { counted, type EnvironmentView, oneLine, schemaText, someOf, validate, z } from "@vis/extension";
import { createHash } from "node:crypto";

export interface McpTool {
  readonly name: string;
  readonly symbol: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly destructive?: boolean;
}

const MAX_DOC = 300;

function toolSignature(call: string, tool: McpTool): string {
  return `${call}(${argumentText(tool)}): Promise<${resultType(tool)}>`;
}

export function toolUsage(
  tool: McpTool,
  { server, bound }: { readonly server: string; readonly bound: boolean },
): string {
  if (bound) return toolSignature(`${aliasName(server)}.${tool.symbol}`, tool);
  const args = [JSON.stringify(server), JSON.stringify(tool.name), argumentText(tool)].filter((one) => one !== "");
  return `mcp.call(${args.join(", ")})`;
}

export function argumentText({ inputSchema }: McpTool): string {
  const type = schemaText(inputSchema, { notes: true });
  if (type === "object" || type === "unknown") return hasRequired(inputSchema) ? "args: object" : "";
  return `args${hasRequired(inputSchema) ? "" : "?"}: ${type}`;
}

export function resultType({ outputSchema }: McpTool): string {
  return outputSchema === undefined ? "unknown" : schemaText(outputSchema, { notes: true });
}

export function toolDoc({ description, name }: McpTool): string {
  return oneLine(description, MAX_DOC) || `The tool ${name}.`;
}

export function requiredKeys(schema: unknown): readonly string[] {
  const required: unknown = typeof schema === "object" && schema !== null ? Reflect.get(schema, "required") : [];
  return Array.isArray(required) ? required.filter((key) => typeof key === "string") : [];
}

const hasRequired = (schema: unknown): boolean => requiredKeys(schema).length > 0;

/** Vis compiles no schema of a server, and compares only the top level. */
export function differenceOf(schema: unknown, data: unknown): string {
  const { type, properties } = Object(schema);
  if (!fits(type, data)) return `it is not of the type ${type}`;
  if (typeof data !== "object" || data === null || Array.isArray(data)) return "";
  const missing = requiredKeys(schema).find((key) => !Object.hasOwn(data, key));
  if (missing !== undefined) return `${missing} is missing`;
  const wrong = Object.entries(Object(properties)).find(([key, one]) =>
    Object.hasOwn(data, key) && !fits(Object(one).type, Reflect.get(data, key))
  );
  return wrong ? `${wrong[0]} is not of the type ${Object(wrong[1]).type}` : "";
}

function fits(type: unknown, value: unknown): boolean {
  const types = [type].flat().filter((one) => typeof one === "string");
  if (typeof value === "bigint") return types.length === 0 || types.includes("integer") || types.includes("number");
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return types.length === 0 || types.includes(kind) || types.includes("integer") && Number.isInteger(value);
}

const MOST_TOOLS = 10_000, MAX_DESCRIPTION = 4_000, MAX_SCHEMA = 100_000;

const MOST_PAGES = 64, MOST_NAMED = 20, MAX_NAME = 100;

export interface ListedTools {
  readonly tools: readonly McpTool[];
  readonly unusable: readonly string[];
  readonly leftOut: number;
}

export async function listTools(client: Client, options: { readonly timeout: number }): Promise<ListedTools> {
  // Without this check, the library would print a note about a missing list.
  if (!client.getServerCapabilities()?.tools) return { tools: [], unusable: [], leftOut: 0 };
  try {
    const { tools } = await client.listTools(undefined, { ...options, cacheMode: "bypass" });
    return listedTools(tools, []);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "INVALID_RESULT")) throw error;
    return await readableTools(client, options);
  }
}

const Page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });
/** Some servers write null for absent fields, or schemas of results that are not objects. */
const Readable = z.object({
  name: z.string().min(1),
  description: orAbsent(z.string()),
  inputSchema: orAbsent(
    z.looseObject({ type: z.union([z.literal("object"), z.tuple([z.literal("object")])]).optional() }),
  ),
  outputSchema: orAbsent(z.looseObject({})),
  annotations: orAbsent(z.object({ destructiveHint: orAbsent(z.boolean()) })),
});

function orAbsent<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** The library refuses a whole list because of one tool, so Vis reads each tool by itself. */
async function readableTools(client: Client, options: { readonly timeout: number }): Promise<ListedTools> {
  const tools: z.infer<typeof Readable>[] = [], unusable: string[] = [];
  let params: { cursor: string } | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await client.request({ method: "tools/list", params }, Page, options);
    for (const [at, tool] of page.tools.entries()) {
      const read = Readable.safeParse(tool);
      if (read.success) tools.push(read.data);
      else unusable.push(nameOf(tool) ?? `number ${at + 1}`);
    }
    if (!page.nextCursor) break;
    params = { cursor: page.nextCursor };
  }
  return listedTools(tools, unusable);
}

function listedTools(listed: Parameters<typeof toTools>[0], unusable: readonly string[]): ListedTools {
  return { tools: toTools(listed), unusable, leftOut: Math.max(0, listed.length - MOST_TOOLS) };
}

function nameOf(tool: unknown): string | null {
  const name: unknown = typeof tool === "object" && tool !== null ? Reflect.get(tool, "name") : null;
  return typeof name === "string" ? name.slice(0, MAX_NAME) : null;
}

function toTools(
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

/** Functions with these names would give an alias another meaning: `then` makes a promise, and JSON.stringify calls
 * `toJSON`. */
const UNUSABLE = ["then", "constructor", "prototype", "__proto__", "toJSON"];

function symbolNames(names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const counts = new Map<string, number>();
  const taken = new Set(names.filter((name) => identifier(name) === name));
  for (const name of names) {
    if (found.has(name)) continue;
    const plain = identifier(name);
    let symbol = plain, count = counts.get(plain) ?? 1;
    while (symbol !== name && taken.has(symbol)) symbol = `${plain}_${++count}`;
    counts.set(plain, count);
    taken.add(symbol);
    found.set(name, symbol);
  }
  return found;
}

const SHIPPED = ["fs", "shell", "git", "web", "rlm", "history", "mcp", "skills", "memo", "debug", "tabular", "tables"];

export function aliasName(server: string): string {
  const name = identifier(server);
  return SHIPPED.includes(name) || !isFree(name) ? `${name}_mcp` : name;
}

function isFree(alias: string): boolean {
  try {
    validate({ namespace: "vis.mcp.server", alias: { ns: "vis.ext.mcp.server", alias }, doc: "-", version: "1.0.0" });
    return true;
  } catch {
    return false;
  }
}

function identifier(name: string): string {
  const plain = name.replace(/[^\w$]/g, "_").slice(0, 64);
  return /^\d/.test(plain) || plain === "" || UNUSABLE.includes(plain) ? `_${plain}` : plain;
}

const MAX_CHARS = 40_000;

export function toolList(
  server: string,
  { tools, unusable, leftOut, bound, search = "" }: ListedTools & {
    readonly bound: boolean;
    readonly search?: string | undefined;
  },
): string {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const found = tools.filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const alias = aliasName(server);
  const call = `mcp.call(${JSON.stringify(server)}, tool, args)`;
  const how = bound
    ? `Called as below, or by ${call}.`
    : `Called by ${call} now: await mcp.call(${JSON.stringify(server)}, ${
      JSON.stringify(found[0]?.name ?? "name")
    }, {…}); from the next request on also as below.`;
  const head = `${server}: ${found.length === tools.length ? "" : `${found.length} of `}${
    counted(tools.length, "tool")
  }. ${how}`;
  let length = head.length;
  const lines = found.map((tool) => lineOf(alias, tool)).filter((line) => (length += line.length + 1) <= MAX_CHARS);
  const rest = found.length - lines.length;
  const more = rest > 0 ? [`${rest} more do not fit: mcp.tools(${JSON.stringify(server)}, "words to search")`] : [];
  const wrong = unusable.length > 0
    ? [`Not callable, as the server describes them wrongly: ${someOf(unusable, MOST_NAMED)}`]
    : [];
  const left = leftOut > 0 ? [leftOutText(leftOut)] : [];
  return [head, ...lines, ...more, ...wrong, ...left].join("\n");
}

export function leftOutText(count: number): string {
  return `${counted(count, "tool")} ${count === 1 ? "is" : "are"} omitted: the limit is ${MOST_TOOLS}`;
}

function lineOf(alias: string, tool: McpTool): string {
  const named = tool.symbol === tool.name ? "" : ` (its name is ${JSON.stringify(tool.name)})`;
  return `${toolSignature(`${alias}.${tool.symbol}`, tool)}  // ${toolDoc(tool)}${named}`;
}

const MOST_SYMBOLS = 300;

const GLOBAL = { scope: "global" } as const;

export class ToolCache {
  readonly #env: Pick<EnvironmentView, "store" | "workspace">;

  constructor(env: Pick<EnvironmentView, "store" | "workspace">) {
    this.#env = env;
  }

  async read(name: string, config: ServerConfig): Promise<readonly McpTool[] | null> {
    const found: unknown = await this.#env.store?.get(this.#keyOf(name, config), GLOBAL).catch(() => null);
    return Array.isArray(found) && found.every(isTool) ? toTools(found.slice(0, MOST_SYMBOLS)) : null;
  }

  async write(
    name: string,
    { config, tools }: { readonly config: ServerConfig; readonly tools: readonly McpTool[] },
  ): Promise<void> {
    const kept = JSON.parse(JSON.stringify(tools.slice(0, MOST_SYMBOLS).map(({ symbol: _, ...tool }) => tool)));
    await this.#env.store?.put(this.#keyOf(name, config), kept, GLOBAL).catch(() => {});
  }

  /** With `cwd`, the workspace can decide which program runs, so the key depends on the workspace. */
  #keyOf(name: string, config: ServerConfig): string {
    const place = "url" in config || config.cwd === undefined ? [] : [this.#env.workspace];
    const facts = "url" in config ? [config.url] : [config.command, ...config.args, ...place];
    return `tools/${createHash("sha256").update(JSON.stringify([name, ...facts])).digest("hex").slice(0, 32)}`;
  }
}

function isTool(value: unknown): value is McpTool {
  return typeof value === "object" && value !== null && "name" in value && typeof value.name === "string" &&
    (!("description" in value) || typeof value.description === "string");
}

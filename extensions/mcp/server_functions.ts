import { isBound } from "./aliases.ts";
import { piecesOf, resourcePiece, resultMessage, toolData } from "./server_messages.ts";
import { httpStatusOf } from "./connect.ts";
import { jsonArguments } from "./exact_json.ts";
import { LoginError } from "./login/stored_logins.ts";
import { Links, type ServerLink } from "./server_link.ts";
import { serverNames } from "./repository_servers.ts";
import { enabledServers, ServerError } from "./settings.ts";
import { aliasName, differenceOf, type McpTool, requiredKeys, ToolCache, toolList, toolUsage } from "./tools.ts";
import { type Client, ProtocolError, UnauthorizedError } from "@modelcontextprotocol/client";
import { advised, type EnvironmentView, messageOf, nearestName, shorten } from "@vis/extension";

const links = new Links();
const MOST_LISTED = 1_000;
type Args = Readonly<Record<string, unknown>>;

export async function tools(env: EnvironmentView, server: string, search?: string): Promise<string> {
  const link = await links.find(env, server);
  const listed = await link.listed(env);
  await new ToolCache(env).write(server, { config: link.config, tools: listed.tools });
  return toolList(server, { ...listed, bound: isBound(env.envId, server), search });
}

export async function call(
  env: EnvironmentView,
  server: string,
  { tool, args }: { readonly tool: string; readonly args: Args },
): Promise<unknown> {
  const link = await links.find(env, server);
  const bound = isBound(env.envId, server);
  const result = await callTool(env, { link, tool, args, bound });
  // The tool has run, so an unreadable list must not make the call fail.
  const listed = bound ? null : await link.tools(env).catch(() => null);
  if (listed) await new ToolCache(env).write(server, { config: link.config, tools: listed });
  return result;
}

export async function callByAlias(
  env: EnvironmentView,
  server: string,
  { tool, args, settings }: { readonly tool: string; readonly args: Args; readonly settings: unknown },
): Promise<unknown> {
  const own: EnvironmentView = Object.create(env, { config: { value: settings, enumerable: true } });
  return await call(own, server, { tool, args });
}

export async function servers(env: EnvironmentView): Promise<unknown> {
  return (await serverNames(env)).map((name) => (
    { name, alias: aliasName(name), state: links.known(env, name)?.state ?? "stopped" }
  ));
}

export async function resources(env: EnvironmentView, server: string): Promise<unknown> {
  return await (await links.find(env, server)).request(env, async ({ client }, options) => {
    const single = async () => (await client.listResources(undefined, options)).resources;
    const templates = async () => (await client.listResourceTemplates(undefined, options)).resourceTemplates;
    const [found, patterns] = await Promise.all([
      listed(client, { of: "resources", list: single }),
      listed(client, { of: "resources", list: templates }),
    ]);
    return firstOf([
      ...found.map(({ uri, ...rest }) => ({ uri, ...known(rest), template: false })),
      ...patterns.map(({ uriTemplate, ...rest }) => ({ uri: uriTemplate, ...known(rest), template: true })),
    ], { env, of: "resources" });
  });
}

export async function read(env: EnvironmentView, server: string, uri: string): Promise<unknown> {
  return await (await links.find(env, server)).request(env, async ({ client }, options) => {
    const { contents } = await client.readResource({ uri }, options);
    return contents.map(resourcePiece);
  });
}

export async function prompts(env: EnvironmentView, server: string): Promise<unknown> {
  return await (await links.find(env, server)).request(env, async ({ client }, options) => {
    const list = async () => (await client.listPrompts(undefined, options)).prompts;
    const found = await listed(client, { of: "prompts", list });
    return firstOf(found, { env, of: "prompts" }).map(({ arguments: args = [], ...rest }) => ({
      ...known(rest),
      arguments: args.map(({ required = false, ...arg }) => ({ ...known(arg), required })),
    }));
  });
}

export async function prompt(
  env: EnvironmentView,
  server: string,
  { prompt: name, args }: { readonly prompt: string; readonly args: Readonly<Record<string, string>> },
): Promise<unknown> {
  return await (await links.find(env, server)).request(env, async ({ client }, options) => {
    const { messages } = await client.getPrompt({ name, arguments: { ...args } }, options);
    return messages.map(({ role, content }) => ({ role, content: piecesOf([content])[0] ?? null }));
  });
}

function firstOf<T>(
  all: readonly T[],
  { env, of }: { readonly env: EnvironmentView; readonly of: "resources" | "prompts" },
): readonly T[] {
  if (all.length > MOST_LISTED) {
    env.note?.(`Vis omits ${all.length - MOST_LISTED} of ${all.length} ${of}: the limit is ${MOST_LISTED}`);
  }
  return all.slice(0, MOST_LISTED);
}

function known(
  { name, description, mimeType }: {
    readonly name: string;
    readonly description?: string | undefined;
    readonly mimeType?: string | undefined;
  },
): Record<string, string> {
  return {
    name,
    ...(description === undefined ? {} : { description }),
    ...(mimeType === undefined ? {} : { mimeType }),
  };
}

const METHOD_NOT_FOUND = -32601;

/** The library prints a note if the server does not offer the list. Some servers have resources but no templates, so a
 * missing list counts as empty. */
export async function listed<T>(
  client: Client,
  { of, list }: { readonly of: "resources" | "prompts"; readonly list: () => Promise<readonly T[]> },
): Promise<readonly T[]> {
  if (!client.getServerCapabilities()?.[of]) return [];
  try {
    return await list();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === METHOD_NOT_FOUND) return [];
    throw error;
  }
}

async function callTool(
  env: EnvironmentView,
  { link, tool: name, args: given, bound }: {
    readonly link: ServerLink;
    readonly tool: string;
    readonly args: Args;
    readonly bound: boolean;
  },
): Promise<unknown> {
  const tool = findTool(await link.tools(env), { link, name });
  const usage = toolUsage(tool, { server: link.name, bound });
  const args = argumentsOf(given, { tool: tool.name });
  const missing = requiredKeys(tool.inputSchema).filter((key) => !Object.hasOwn(args, key));
  if (missing.length > 0) {
    throw advised(new TypeError(`Cannot call ${tool.name}: args lacks ${missing.join(", ")}`), `usage: ${usage}`);
  }
  if (tool.destructive && !link.config.destructive) await askUser(env, { server: link.name, tool: tool.name, args });
  const { result, wrong } = await request(env, { link, tool, args });
  if (wrong !== undefined) throw failure(tool, { usage, why: wrong });
  if (Object(result).isError === true) {
    throw failure(tool, { usage, why: resultMessage(result) || "the server gave no reason" });
  }
  const data = Object(result).structuredContent ?? undefined;
  const difference = data === undefined || tool.outputSchema === undefined ? "" : differenceOf(tool.outputSchema, data);
  if (difference !== "") {
    env.note?.(`The result of ${tool.name} differs from the description of its server: ${difference}`);
  }
  const found = toolData(result);
  const long = firstBigInt(found);
  if (long !== null) {
    env.note?.(`The result of ${tool.name} has BigInt values, such as ${long}n: JSON.stringify refuses them`);
  }
  return found;
}

function argumentsOf(given: Args, { tool }: { readonly tool: string }): Args {
  try {
    return jsonArguments(given);
  } catch (error) {
    throw new TypeError(`Cannot call ${tool}: ${messageOf(error)}`);
  }
}

function firstBigInt(value: unknown): bigint | null {
  if (typeof value === "bigint") return value;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return null;
  for (const one of Object.values(value)) {
    const found = firstBigInt(one);
    if (found !== null) return found;
  }
  return null;
}

/** The Error of a rejection says if the tool may have run. */
async function request(
  env: EnvironmentView,
  { link, tool: { name }, args }: {
    readonly link: ServerLink;
    readonly tool: McpTool;
    readonly args: Args;
  },
): Promise<{ readonly result?: unknown; readonly wrong?: string }> {
  let mayHaveRun = false;
  const limit = new AbortController();
  const ends = Date.now() + MOST_EXTENSIONS * link.config.timeoutMs;
  const onprogress = (): void => {
    if (Date.now() >= ends) {
      const seconds = MOST_EXTENSIONS * link.config.timeoutMs / 1000;
      limit.abort(`it reports progress, but did not end within ${seconds} s, the limit`);
    }
  };
  try {
    return await link.request(env, async ({ client, wholeResult }, options) => {
      mayHaveRun = true;
      try {
        const signal = AbortSignal.any([limit.signal, ...options.signal ? [options.signal] : []]);
        const progress = { onprogress, resetTimeoutOnProgress: true, signal };
        return { result: wholeResult(await client.callTool({ name, arguments: args }, { ...options, ...progress })) };
      } catch (error) {
        if (error instanceof ProtocolError && error.code === INVALID_PARAMS) return { wrong: error.message };
        mayHaveRun = !isRefusal(error);
        throw error;
      }
    });
  } catch (error) {
    if (!mayHaveRun || !(error instanceof ServerError)) throw error;
    throw advised(
      new Error(`Cannot finish ${name} of MCP server ${link.name}: ${error.why} (the tool may have run)`, {
        cause: error,
      }),
      "check before you call it again",
    );
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof UnauthorizedError || error instanceof LoginError) return true;
  if (error instanceof ProtocolError) return REFUSALS.includes(error.code);
  const status = httpStatusOf(error);
  return status !== null && status >= 300 && status < 500 && status !== REQUEST_TIMEOUT;
}

async function askUser(
  { approve, config }: EnvironmentView,
  { server, tool, args }: { readonly server: string; readonly tool: string; readonly args: unknown },
): Promise<void> {
  const given = JSON.stringify(args);
  const scope = `the tool ${tool} of the MCP server ${server}`;
  const setting = `extensions.config.vis.mcp.servers.${server}.destructive`;
  const isOwn = enabledServers(config).has(server);
  const added = isOwn ? "" : `after vis mcp add ${server} …, `;
  const allowing = `${added}vis config set ${setting} true allows it without a question`;
  if (given.length > MAX_SHOWN) {
    throw advised(
      new Error(
        `Cannot call ${scope}: its arguments have ${given.length} characters, and a question shows at most ` +
          `${MAX_SHOWN} (${allowing})`,
      ),
      "pass less at once",
    );
  }
  const { allowed = false, reason = "no user can answer here", byUser = false } = await approve?.({
    what: `call ${scope}`,
    exact: given,
    why: "The server marks this tool as destructive.",
    scope,
    ...isOwn ? { option: `--set ${setting}=true` } : {},
  }) ?? {};
  if (allowed) return;
  throw new Error(
    `Cannot call ${scope}: the server marks it as destructive, and ${reason}${byUser ? "" : `; ${allowing}`}`,
  );
}

const MOST_EXTENSIONS = 10;
const MAX_SHOWN = 3_000;
const MAX_WHY = 4_000, INVALID_PARAMS = -32602, REQUEST_TIMEOUT = 408;
const REFUSALS: readonly number[] = [-32700, -32600, -32601];

function findTool(
  tools: readonly McpTool[],
  { link, name }: { readonly link: ServerLink; readonly name: string },
): McpTool {
  const found = tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.symbol === name);
  if (found) return found;
  const names = tools.map((tool) => tool.name);
  const near = nearestName(name, names) ?? names.find((one) => one.includes(name)) ?? null;
  const hint = near !== null ? `did you mean ${near}` : `list them with await mcp.tools("${link.name}")`;
  throw advised(
    new Error(`Cannot call ${name} of MCP server ${link.name}: the server has no tool of this name`),
    hint,
  );
}

function failure(
  { name }: McpTool,
  { usage, why }: { readonly usage: string; readonly why: string },
): Error {
  const text = shorten(why, MAX_WHY);
  return advised(new Error(`Cannot finish ${name}: ${text.trimEnd()}`), `usage: ${usage}`);
}

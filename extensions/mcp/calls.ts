import type { EnvironmentView } from "@vis/extension";
import { isBound } from "./aliases.ts";
import { callTool } from "./call_tool.ts";
import { Links } from "./links.ts";
import { listed } from "./listed.ts";
import { enabledServers } from "./server_config.ts";
import { ToolCache } from "./tool_cache.ts";
import { toolList } from "./tool_list.ts";
import { aliasName } from "./tool_names.ts";
import { piecesOf, resourcePiece } from "./tool_result.ts";

const links = new Links();
const MOST_LISTED = 1_000;
type Args = Readonly<Record<string, unknown>>;

export async function tools(env: EnvironmentView, server: string, search?: string): Promise<string> {
  const link = links.find(env, server);
  const { tools: found, unusable } = await link.listed(env);
  await new ToolCache(env).write(server, { config: link.config, tools: found });
  return toolList(server, { tools: found, unusable, bound: isBound(env.envId, server), search });
}

export async function call(
  env: EnvironmentView,
  server: string,
  { tool, args }: { readonly tool: string; readonly args: Args },
): Promise<unknown> {
  const link = links.find(env, server);
  const bound = isBound(env.envId, server);
  const result = await callTool(env, { link, tool, args, bound });
  // The call has run: a list that cannot be read must not make it fail.
  const listed = bound ? null : await link.tools(env).catch(() => null);
  if (listed) await new ToolCache(env).write(server, { config: link.config, tools: listed });
  return result;
}

/** A call through a server's alias, whose extension has no settings of its own. */
export async function callByAlias(
  env: EnvironmentView,
  server: string,
  { tool, args, settings }: { readonly tool: string; readonly args: Args; readonly settings: unknown },
): Promise<unknown> {
  const own: EnvironmentView = Object.create(env, { config: { value: settings, enumerable: true } });
  return await call(own, server, { tool, args });
}

export function servers(env: EnvironmentView): unknown {
  return [...enabledServers(env.config).keys()].map((name) => (
    { name, alias: aliasName(name), state: links.known(env, name)?.state ?? "stopped" }
  ));
}

export async function resources(env: EnvironmentView, server: string): Promise<unknown> {
  return await links.find(env, server).request(env, async (client, options) => {
    const single = async () => (await client.listResources(undefined, options)).resources;
    const templates = async () => (await client.listResourceTemplates(undefined, options)).resourceTemplates;
    const [found, patterns] = await Promise.all([
      listed(client, { of: "resources", list: single }),
      listed(client, { of: "resources", list: templates }),
    ]);
    return [
      ...found.map(({ uri, ...rest }) => ({ uri, ...known(rest), template: false })),
      ...patterns.map(({ uriTemplate, ...rest }) => ({ uri: uriTemplate, ...known(rest), template: true })),
    ].slice(0, MOST_LISTED);
  });
}

export async function read(env: EnvironmentView, server: string, uri: string): Promise<unknown> {
  return await links.find(env, server).request(env, async (client, options) => {
    const { contents } = await client.readResource({ uri }, options);
    return contents.map(resourcePiece);
  });
}

export async function prompts(env: EnvironmentView, server: string): Promise<unknown> {
  return await links.find(env, server).request(env, async (client, options) => {
    const list = async () => (await client.listPrompts(undefined, options)).prompts;
    const found = await listed(client, { of: "prompts", list });
    return found.slice(0, MOST_LISTED).map(({ arguments: args = [], ...rest }) => ({
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
  return await links.find(env, server).request(env, async (client, options) => {
    const { messages } = await client.getPrompt({ name, arguments: { ...args } }, options);
    return messages.map(({ role, content }) => ({ role, content: piecesOf([content])[0] ?? null }));
  });
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

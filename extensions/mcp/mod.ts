import { defineExtension, type EnvironmentView, type Extension, fn, z } from "@vis/extension";
import settings from "./settings.ts";
import { existsSync } from "node:fs";

const text = z.string().min(1);
const server = text.describe("server");
const args = z.record(z.string(), z.unknown()).describe("args").meta({ tsType: "object" }).optional();

const calls = () => import("./server_functions.ts");

interface Servers {
  readonly servers?: Readonly<Record<string, { readonly disabled?: boolean }>>;
}

async function names(env: EnvironmentView): Promise<readonly string[]> {
  const { servers = {} } = (env.config ?? {}) as Servers;
  const own = Object.entries(servers).flatMap(([name, { disabled }]) => disabled ? [] : [name]);
  const { workspace, root = workspace } = env;
  if (![workspace, root].some((folder) => existsSync(`${folder}/.mcp.json`))) return own;
  return await (await import("./repository_servers.ts")).serverNames(env);
}

export default defineExtension({
  namespace: "vis.mcp",
  alias: { ns: "vis.ext.mcp", alias: "mcp" },
  doc: "Gives the model tools, resources and prompts of MCP servers in the settings and in the repository's .mcp.json.",
  group: "mcp",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  config: settings,
  activate: async (env: EnvironmentView): Promise<boolean> => (await names(env)).length > 0,
  prompt: async (env: EnvironmentView): Promise<string> => {
    const listed = (await names(env)).join(", ");
    if (listed === "") return "";
    return `Tools of MCP servers: ${listed}. First look: await mcp.tools(server, search?) gives their signatures as text. Then await mcp.call(server, tool, args): data, or an error with the signature.`;
  },
  extend: async (env: EnvironmentView): Promise<readonly Extension[]> => {
    if ((await names(env)).length === 0) return [];
    const { aliases } = await import("./aliases.ts");
    return await aliases(env, async (own, name, call) => (await calls()).callByAlias(own, name, call));
  },
  cli: [
    {
      name: "mcp-check",
      doc: "Check the enabled MCP servers in the settings, or one of them, and print a line of JSON for each.",
      args: z.object({ name: text.optional() }),
      run: async ({ name }: { readonly name?: string }, context) =>
        await (await import("./check_servers.ts")).checkCommand(name, context),
    },
    {
      name: "mcp-login",
      doc:
        "Log in with a browser to an MCP server that has an address; for a browser on another machine, --paste asks for " +
        "the final address or the code in the browser.",
      args: z.object({ name: text, paste: z.boolean().optional() }),
      run: async ({ name, paste = false }: { readonly name: string; readonly paste?: boolean }, context) => {
        const { servers = {} } = context.config as { readonly servers?: Readonly<Record<string, unknown>> };
        const { loginCommand } = await import("./login/oauth_login.ts");
        return await loginCommand(
          { name, server: Object.hasOwn(servers, name) ? servers[name] : undefined, paste },
          context,
        );
      },
    },
    {
      name: "mcp-logout",
      doc: "Delete the login of an MCP server.",
      args: z.object({ name: text }),
      run: async ({ name }: { readonly name: string }, context) => {
        const { logoutCommand } = await import("./login/oauth_login.ts");
        return await logoutCommand(name, context);
      },
    },
  ],
  doctor: async (context) => await (await import("./check_servers.ts")).diagnoseServers(context),
  shown: 0,
  symbols: [
    fn(
      "tools",
      async (env: EnvironmentView, name: string, search?: string) => (await calls()).tools(env, name, search),
      {
        doc: "Signatures of a server's tools as TypeScript, all of them or those that contain the words.",
        untimed: true,
        args: z.tuple([server, z.string().optional().describe("search")]),
        returns: "string",
        examples: ['await mcp.tools("github", "issue")'],
      },
    ),
    fn(
      "call",
      async (env: EnvironmentView, name: string, tool: string, given: Record<string, unknown> = {}) =>
        (await calls()).call(env, name, { tool, args: given }),
      {
        doc:
          "Calls a tool: structured data, text (parsed where it is JSON), or a list where there are images or files.",
        untimed: true,
        action: { doing: "calling", done: "called", things: "tools", named: 2 },
        args: z.tuple([server, text.describe("tool"), args]),
        returns: "unknown",
        examples: ['await mcp.call("github", "create_issue", {owner: "o", repo: "r", title: "t"})'],
      },
    ),
    fn("servers", async (env: EnvironmentView) => (await calls()).servers(env), {
      doc: "The servers and whether they run.",
      args: z.tuple([]),
      misnamed: { status: "state", running: "state" },
      returns: '{name, alias, state: "running"|"starting"|"stopped"}[]',
    }),
    fn("resources", async (env: EnvironmentView, name: string) => (await calls()).resources(env, name), {
      doc: "Resources and resource templates of a server.",
      untimed: true,
      args: z.tuple([server]),
      misnamed: { url: "uri" },
      returns: "{uri, name, description?, mimeType?, template}[]",
    }),
    fn("read", async (env: EnvironmentView, name: string, uri: string) => (await calls()).read(env, name, uri), {
      doc: "One resource.",
      untimed: true,
      action: { doing: "reading", done: "read", things: "resources", named: 2 },
      args: z.tuple([server, text.describe("uri")]),
      misnamed: {
        content: "text or bytes",
        contents: "text or bytes",
        data: "text or bytes",
        blob: "bytes",
        url: "uri",
      },
      returns: "{type, uri, mimeType?, text?, bytes?}[]",
    }),
    fn("prompts", async (env: EnvironmentView, name: string) => (await calls()).prompts(env, name), {
      doc: "Prompts that a server offers.",
      untimed: true,
      args: z.tuple([server]),
      misnamed: { args: "arguments", parameters: "arguments" },
      returns: "{name, description?, arguments: {name, description?, required}[]}[]",
    }),
    fn(
      "prompt",
      async (env: EnvironmentView, name: string, prompt: string, given: Record<string, string> = {}) =>
        (await calls()).prompt(env, name, { prompt, args: given }),
      {
        doc: "The messages of one prompt.",
        untimed: true,
        args: z.tuple([
          server,
          text.describe("prompt"),
          z.record(z.string(), z.string()).describe("args").meta({ tsType: "Record<string, string>" }).optional(),
        ]),
        misnamed: { text: "content", message: "content" },
        returns: "{role, content}[]",
      },
    ),
  ],
});

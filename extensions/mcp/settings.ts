import { z } from "zod";

const text = z.string().min(1);
const limits = {
  destructive: z.boolean().default(false).describe(
    "Whether tools that the server marks as destructive run without an approval",
  ),
  disabled: z.boolean().default(false).describe("Whether Vis ignores the server"),
  timeoutMs: z.int().min(1).max(3_600_000).default(60_000).describe(
    "Time limit of one call, in milliseconds. Progress reports of the server restart it, up to ten times the limit in all",
  ),
  startMs: z.int().min(1).max(600_000).default(30_000).describe(
    "Time limit of the start and the first exchange, in milliseconds",
  ),
};
const values = z.record(z.string(), z.string()).default({}).meta({ secrets: true });
export const Stdio = z.strictObject({
  command: text.describe("Program, as an absolute path or as a name that PATH resolves"),
  args: z.array(z.string()).default([]).describe(
    "Arguments of the program; Vis replaces ${workspace} with the path of the workspace",
  ),
  env: values.describe("Variables in addition to the few that every program gets"),
  cwd: z.string().optional().describe(
    "Folder of the workspace in which the program starts. By default, the program starts outside the workspace",
  ),
  network: z.boolean().default(false).describe("Whether the program may use TCP and UDP to any address"),
  read: z.array(z.string().startsWith("/")).default([]).describe(
    "Absolute paths that the program may read and run, in addition to the system and the workspace",
  ),
  write: z.array(text).default([]).describe("Paths that the program may change, absolute or relative to the workspace"),
  ...limits,
});
export const Http = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).describe("Address of a server over streamable HTTP"),
  headers: values.describe("Headers of each HTTP request"),
  ...limits,
});
const Server = z.union([Stdio, Http], "must have either a command or a url, and only keys that belong to it");
export const NAME = /^[A-Za-z][\w-]{0,39}$/;

function apart(servers: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(servers);
  return new Set(names.map((name) => name.replaceAll("-", "_"))).size === names.length;
}

export default z.strictObject({
  servers: z.record(
    z.string().regex(NAME, "must begin with a letter and have at most 40 letters, digits, - and _"),
    Server,
  )
    .refine(apart, "has two names that give the same alias, such as a-b and a_b").default({})
    .describe("MCP servers by name, each with a program or an address").meta({ offered: "mcpServers" }),
  variables: values.describe("Values by name for the references ${NAME} in the .mcp.json of a repository"),
}).prefault({});

export type ServerConfig = StdioConfig | HttpConfig;

export type StdioConfig = Readonly<z.infer<typeof Stdio>>;
export type HttpConfig = Readonly<z.infer<typeof Http>>;

export const WORKSPACE = "${workspace}";

export function enabledServers(config: unknown): ReadonlyMap<string, ServerConfig> {
  const { servers = {} } = (config ?? {}) as { readonly servers?: Readonly<Record<string, ServerConfig>> };
  return new Map(Object.entries(servers).filter(([, { disabled }]) => !disabled));
}

/** The servers of a repository may use these variables. */
export function userVariables(config: unknown): Readonly<Record<string, string>> {
  const { variables = {} } = (config ?? {}) as { readonly variables?: Readonly<Record<string, string>> };
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => !/\$\{(auth:)?[\w.-]+\}/.test(value)));
}

/** Vis must not show values of headers and variables, or words in these values. */
export function secretsOf(config: ServerConfig): readonly string[] {
  const values = Object.values("url" in config ? config.headers : config.env);
  const words = values.flatMap((value) => [value, ...value.split(/\s+/)]);
  return [...new Set(words.filter((value) => value.length >= 6))].sort((a, b) => b.length - a.length);
}

export function redacted(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, "[secret]"), text);
}

export function checkVariables(name: string, config: ServerConfig): void {
  for (const [key, value] of Object.entries("url" in config ? config.headers : config.env)) {
    const [missing, auth, secret] = /\$\{(auth:)?([^{}]*)\}/.exec(value.replaceAll(WORKSPACE, "")) ?? [];
    if (missing === undefined) continue;
    const why = auth
      ? `; save it with vis auth login ${secret}`
      : ", which the environment of Vis lacks; set this variable and start Vis again";
    throw new ServerError(name, `its setting ${key} needs ${missing}${why}`, "secret");
  }
}

export class ServerError extends Error {
  override readonly name = "ServerError";
  constructor(server: string, readonly why: string, readonly wants: "login" | "secret" | null = null) {
    super(`Cannot use MCP server ${server}: ${why}`);
  }
}

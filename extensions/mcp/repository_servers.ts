import {
  enabledServers,
  Http,
  NAME,
  type ServerConfig,
  ServerError,
  Stdio,
  userVariables,
  WORKSPACE,
} from "./settings.ts";
import { commandText, decodeText, type EnvironmentView, plainFile, reasonOf, z } from "@vis/extension";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { lstat } from "node:fs/promises";

export const FILE = ".mcp.json";
const MAX_BYTES = 64 * 1024;
const MAIN = "default";

const Given = z.looseObject({
  type: z.string().optional(),
  command: z.string().optional(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).default({}),
});
const Content = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()).default({}) });

type GivenServer = z.infer<typeof Given>;
type Approval = Awaited<ReturnType<NonNullable<EnvironmentView["approve"]>>>;

export interface RepositoryServers {
  readonly path: string;
  readonly names: readonly string[];
  readonly servers: ReadonlyMap<string, ServerConfig>;
  readonly faults: ReadonlyMap<string, string>;
  readonly question: { readonly what: string; readonly exact: string; readonly why: string; readonly scope: string };
}

type Place = Pick<EnvironmentView, "workspace" | "root" | "config">;

/** Vis cannot ask a user of another tenant, and the locked profile runs no programs. */
export function mayBringServers(env: EnvironmentView): boolean {
  return env.spawn !== undefined && (env.tenant ?? MAIN) === MAIN && fileOf(env) !== null;
}

export async function serversOf(env: EnvironmentView): Promise<ReadonlyMap<string, ServerConfig>> {
  const own = enabledServers(env.config);
  if (!mayBringServers(env)) return own;
  return new Map([...own, ...(await repositoryServers(env))?.servers ?? []]);
}

export async function serverNames(env: EnvironmentView): Promise<readonly string[]> {
  return [...(await serversOf(env)).keys()];
}

function fileOf({ workspace, root = workspace }: Pick<EnvironmentView, "workspace" | "root">): string | null {
  return [workspace, root].map((folder) => `${folder}/${FILE}`).find((path) => existsSync(path)) ?? null;
}

export async function repositoryServers({ config, ...place }: Place): Promise<RepositoryServers | null> {
  const path = fileOf(place);
  if (path === null) return null;
  const [names, servers, faults] = [[] as string[], new Map<string, ServerConfig>(), new Map<string, string>()];
  const asked: string[] = [];
  const wanted = new Set<string>();
  let hash = "";
  try {
    const { text, digest } = await contentOf(path);
    hash = digest;
    const own = enabledServers(config);
    for (const [name, raw] of Object.entries(Content.parse(JSON.parse(text)).mcpServers)) {
      if (own.has(name)) continue;
      names.push(name);
      try {
        const given = Given.parse(raw);
        servers.set(name, serverOf(name, { given, variables: userVariables(config), wanted }));
        asked.push(`${name} (${shown(given)})`);
      } catch (error) {
        faults.set(name, whyNot(error));
      }
    }
  } catch (error) {
    faults.set("", whyNot(error));
  }
  const variables = [...wanted].join(", ");
  const question = {
    what: `use the MCP servers of ${FILE}`,
    exact: asked.join("; "),
    why: `The repository brings them. Their programs have access to the network and may read the workspace${
      variables === "" ? "" : `; they get your variables ${variables}`
    }.`,
    scope: `the MCP servers of ${FILE} with the content ${hash}`,
    once: "request" as const,
  };
  return { path, names, servers, faults, question };
}

/** The user approves the same bytes that Vis uses, because Vis reads the file once. */
async function contentOf(path: string): Promise<{ readonly text: string; readonly digest: string }> {
  const { size, isFile } = await lstat(path).then((info) => ({ size: info.size, isFile: info.isFile() }));
  if (!isFile) throw new Error("It is not a regular file");
  if (size > MAX_BYTES) throw new Error(`It has ${size} bytes, and the limit is ${MAX_BYTES}`);
  const bytes = await plainFile(path, { links: false, most: MAX_BYTES });
  const { text } = decodeText(bytes) ?? { text: "" };
  return { text, digest: createHash("sha256").update(bytes).digest("hex").slice(0, 32) };
}

function serverOf(
  name: string,
  { given, variables, wanted }: {
    readonly given: GivenServer;
    readonly variables: Readonly<Record<string, string>>;
    readonly wanted: Set<string>;
  },
): ServerConfig {
  if (!NAME.test(name)) {
    throw new Error("Its name must begin with a letter and have at most 40 letters, digits, - and _");
  }
  const { type, command, args, env, url, headers } = given;
  const filled = (text: string): string => {
    return text.replace(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, (whole, variable: string, fallback?: string) => {
      const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
      if (value !== undefined) wanted.add(variable);
      const found = value ?? fallback ?? (whole === WORKSPACE && url === undefined ? whole : undefined);
      if (found === undefined) throw new Error(unnamed(variable));
      return found;
    });
  };
  const all = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, filled(value)]));
  if (url !== undefined) {
    if (type === "sse" || type === "ws") throw new Error(`Vis does not support its type ${type}; use http`);
    return Http.parse({ url: filled(url), headers: all(headers) });
  }
  if (command === undefined) throw new Error("It has neither a command nor a url");
  return Stdio.parse({ command: filled(command), args: args.map(filled), env: all(env), cwd: ".", network: true });
}

function unnamed(variable: string): string {
  return `it requires a value of the variable ${variable}; set ${variable} in the environment of Vis, and allow its ` +
    `use with vis config set extensions.config.vis.mcp.variables.${variable} '\${${variable}}'`;
}

function shown({ command = "", args, env, url, headers }: GivenServer): string {
  return url === undefined ? commandText([command, ...args], { env }) : commandText([url], { env: headers });
}

function whyNot(error: unknown): string {
  if (!(error instanceof z.ZodError)) return reasonOf(error);
  const [{ path = [], message = "" } = {}] = error.issues;
  return `${path.join(".") || "it"} ${message}`;
}

const ANSWERS = new Map<string, { readonly about: string; readonly answer: Promise<Approval> }>();

export async function askForServers(
  env: EnvironmentView,
  { server, found }: { readonly server: string; readonly found: RepositoryServers },
): Promise<void> {
  const { allowed, reason } = await answered(env, found);
  if (!allowed) throw new ServerError(server, `it comes from ${FILE}, and ${reason}`);
}

async function answered(env: EnvironmentView, { question, names }: RepositoryServers): Promise<Approval> {
  const about = JSON.stringify([env.userQueryId, question]);
  const known = ANSWERS.get(env.envId);
  if (known?.about === about) return await known.answer;
  if (!known) env.closed?.addEventListener("abort", () => ANSWERS.delete(env.envId), { once: true });
  const answer = env.approve?.(question) ?? Promise.resolve({ allowed: false, reason: "no user can answer here" });
  ANSWERS.set(env.envId, { about, answer });
  try {
    const { allowed, reason } = await answer;
    if (!allowed) env.warn?.(`Vis did not use the MCP servers of ${FILE} (${names.join(", ")}): ${reason}`);
    return { allowed, reason };
  } catch (error) {
    ANSWERS.delete(env.envId);
    throw error;
  }
}

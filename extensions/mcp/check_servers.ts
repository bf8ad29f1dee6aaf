import {
  type CliContext,
  counted,
  type DoctorCheck,
  type DoctorContext,
  type EnvironmentView,
  messageOf,
  Semaphore,
} from "@vis/extension";
import { FILE, type RepositoryServers, repositoryServers } from "./repository_servers.ts";
import { ServerLink } from "./server_link.ts";
import { enabledServers, type ServerConfig, ServerError } from "./settings.ts";
import { leftOutText } from "./tools.ts";

const CHECK_MS = 25_000;
const MOST_AT_A_TIME = 8;

interface ServerState {
  readonly name: string;
  readonly state: "ok" | "login" | "secret" | "failed";
  readonly found: string;
}

type Place = Pick<CliContext, "config" | "workspace" | "home"> & { readonly spawn: DoctorContext["spawn"] };

async function checkServers(place: Place, name: string | null = null): Promise<readonly ServerState[]> {
  const wanted = [...enabledServers(place.config)].filter(([one]) => name === null || one === name);
  const starts = new Semaphore(MOST_AT_A_TIME);
  return await Promise.all(wanted.map(([one, config]) => starts.run(() => checkServer(one, config, place))));
}

async function checkServer(
  name: string,
  config: ServerConfig,
  { workspace, home, spawn }: Place,
): Promise<ServerState> {
  const closed = new AbortController();
  const signal = AbortSignal.timeout(CHECK_MS);
  const env: EnvironmentView = {
    ...{ envId: "check", conversationId: "", branchId: "", depth: 0, workspace, home, closed: closed.signal, signal },
    ...(spawn ? { spawn } : {}),
  };
  const link = new ServerLink(name, { ...config, startMs: Math.min(config.startMs, CHECK_MS - 5_000) });
  try {
    const { tools, unusable, leftOut } = await link.listed(env);
    const wrong = unusable.length === 0 ? "" : `, and ${unusable.length} that it describes wrongly`;
    const left = leftOut === 0 ? "" : `; ${leftOutText(leftOut)}`;
    return { name, state: "ok", found: `${counted(tools.length, "tool")}${wrong}${left}` };
  } catch (error) {
    if (signal.aborted) return { name, state: "failed", found: `it did not answer within ${CHECK_MS / 1000} s` };
    if (!(error instanceof ServerError)) return { name, state: "failed", found: messageOf(error) };
    return { name, state: error.wants ?? "failed", found: error.why };
  } finally {
    closed.abort();
    await link.close();
  }
}

export async function checkCommand(name: string | undefined, context: CliContext): Promise<number> {
  const missing = missingText(name, context.config);
  if (missing !== null) {
    context.print(`${missing}\n`);
    return name === undefined ? 0 : 2;
  }
  const states = await checkServers({ ...context, spawn: context.spawn ?? null }, name ?? null);
  for (const one of states) context.print(`${JSON.stringify(one)}\n`);
  return states.every(({ state }) => state === "ok") ? 0 : 1;
}

function missingText(name: string | undefined, config: unknown): string | null {
  const enabled = enabledServers(config);
  if (name === undefined ? enabled.size > 0 : enabled.has(name)) return null;
  const { servers = {} } = (config ?? {}) as { readonly servers?: Readonly<Record<string, unknown>> };
  if (Object.keys(servers).length === 0) {
    return "The settings have no MCP servers. vis mcp add NAME COMMAND-OR-URL adds one.";
  }
  const none = name === undefined ? "No servers are enabled" : `No enabled server is named ${name}`;
  return `${none}. vis mcp list shows all servers.`;
}

export async function diagnoseServers({ spawnInWorkspace: spawn, ...context }: DoctorContext): Promise<DoctorCheck[]> {
  const brought = (await repositoryServers(context).then((found) => found && linesOf(found))) ?? [];
  const own = (await checkServers({ ...context, spawn })).map(({ name, state, found }): DoctorCheck => {
    const line = { name: `mcp: ${name}`, found };
    if (state === "ok") return { ...line, state, fix: "" };
    const fix = state === "failed"
      ? `Correct its settings, or remove it: vis mcp remove ${name}`
      : state === "login"
      ? `vis mcp login ${name}`
      : "Set the value, or save it with vis auth login";
    return { ...line, state: "warn", fix };
  });
  return [...own, ...brought];
}

function linesOf({ path, servers, faults }: RepositoryServers): DoctorCheck[] {
  const names = [...servers.keys()].join(", ");
  const line = {
    name: `mcp: ${FILE}`,
    found: `it brings ${names}, which Vis uses once you allow it in a conversation`,
  };
  return [
    ...names === "" ? [] : [{ ...line, state: "ok" as const, fix: "" }],
    ...[...faults].map(([name, why]): DoctorCheck => ({
      name: name === "" ? line.name : `mcp: ${name}`,
      state: "warn",
      found: name === "" ? why : `${FILE} describes it, and ${why}`,
      fix: `Correct ${path}`,
    })),
  ];
}

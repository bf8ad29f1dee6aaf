import { basename, dirname, isAbsolute } from "node:path";
import type { RunningServer, ServeRequest, Session } from "../../channels/channel.ts";
import type { OwnConnections } from "../../channels/http/connections.ts";
import type { HttpParts } from "../../channels/http/http_parts.ts";
import { startHttp } from "../../channels/http/start_http.ts";
import type { WorkspaceFiles } from "../../channels/tui/workspace_files.ts";
import type { Config } from "../../config/schema.ts";
import { ConfigError, fileFault } from "../../domain/errors.ts";
import { isAllAddresses, isLoopback } from "../../domain/kit/addresses.ts";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { isBelow } from "../../domain/kit/files.ts";
import type { ExtensionFacts, VersionFacts } from "../../domain/admin_reports.ts";
import { runUndo } from "../../domain/undo.ts";
import { createLog } from "../../logging/log.ts";
import type { PROC } from "../../processes/proc_files.ts";
import { AppExtensionAdmin } from "../extensions/extension_admin.ts";
import { unpricedRoot } from "../providers/build_router.ts";
import { AppProviderAdmin } from "../providers/provider_admin.ts";
import { openTraced, type SessionParts, tryWalls, wantedTelemetry } from "../session/open_session.ts";
import { rootOf, type Settings } from "../settings/settings.ts";
import { runtimeSince } from "../version.ts";
import { offeredPrompts } from "./offered_prompts.ts";
import { readService } from "./read_service.ts";
import { readiness } from "./readiness.ts";
import { serverTokens } from "./server_tokens.ts";
import { type TelegramHook, telegramHook } from "./telegram.ts";

const LIMITS = {
  bodyMs: 30_000,
  idle: { headMs: 30_000, idleMs: 300_000 },
  headerBytes: 32_768,
  urlBytes: 8_192,
  heartbeatMs: 15_000,
  lookMs: 500,
  useMs: 60_000,
  wrongTokens: { perMinute: 60, burst: 30 },
} as const;

export async function serve(
  given: ServeRequest,
  { version, ...parts }: SessionParts & { readonly version: VersionFacts },
): Promise<RunningServer> {
  const { request, settings, notes: ofProfile } = await readService(given, parts);
  const { server: config } = settings.config;
  const host = request.host ?? config.host;
  const { source, token, from, notes, isNew } = await serverTokens(request, { env: parts.env, settings });
  const telemetry = parts.telemetry ?? await wantedTelemetry(parts.env, version.vis);
  const workspaces = await realFolders(config.workspaces);
  const session = await openTraced({ ...request, node: true, serves: workspaces }, {
    ...parts,
    telemetry,
    version: version.vis,
  });
  let bot: TelegramHook | null = null;
  try {
    bot = await telegramHook(request, { settings, parts, session });
    const { conversations, workspace, provider, model } = session;
    const unpriced = unpricedRoot(conversations, settings, { serves: true });
    const root = request.locked ? null : rootOf(settings, parts.env);
    const folders = [workspace, ...root === null ? [] : [root], ...workspaces, ...settings.readFolders];
    await refuseExposed(from, { folders, home: settings.home }).catch(async (error: unknown) => {
      if (isNew) await Deno.remove(from);
      throw error;
    });
    const server = startHttp({
      ...{ conversations, workspace, provider, model },
      tokens: source,
      usedToday: await conversations.stored.labelUse(new Date().setUTCHours(0, 0, 0, 0)),
      version: version.vis,
      admin: new AppProviderAdmin(settings),
      extensions: { list: () => extensionsOf(request, { settings, parts }) },
      workspaces,
      budget: settings.config.budget,
      suggestions: suggestionsIn(request, { settings, parts }),
      ...undoOf(request, { settings, parts }),
      log: createLog("http"),
      ...(telemetry ? { within: telemetry.within } : {}),
      ready: readyOf(settings, conversations),
      now: Date.now,
      hosts: config.hosts,
      proxies: config.proxies,
      limits: limitsOf(config),
      ownConnections: ownConnections(),
      hooks: bot?.hooks ?? {},
    }, { host, port: request.port ?? config.port });
    return {
      ...{ url: server.url, token, tokenFrom: from, provider, model },
      reached: reachedAt(server.url, { host, hosts: config.hosts }),
      notes: [
        ...ofProfile,
        ...openNotes(host, config.hosts, { port: new URL(server.url).port }),
        ...session.notes ?? [],
        ...pricesNote(unpriced),
        ...bot?.notes ?? [],
        ...notes,
      ],
      close: async () => {
        await Promise.all([server.close(), bot?.close()]);
        await session.close();
      },
    };
  } catch (error) {
    await bot?.close();
    await session.close();
    throw error;
  }
}

/** Requests can read `folders`, so a token file there would reveal the tokens of other clients. Vis hides files named
 * "*token*" of its own folder from requests. */
async function refuseExposed(
  path: string,
  { folders, home }: { readonly folders: readonly string[]; readonly home: string | null },
): Promise<void> {
  if (!isAbsolute(path)) return; // A `path` that is not absolute is the name of a flag or of a variable.
  const real = await Deno.realPath(path).catch(() => path);
  const own = home === null ? null : await Deno.realPath(home).catch(() => home);
  if (dirname(real) === own && basename(real).includes("token")) return;
  const folder = folders.find((one) => isBelow(real, one));
  if (folder === undefined) return;
  throw new ConfigError(
    `Cannot use the tokens in ${path}: requests can read the files of ${folder}; move the token file out of this folder`,
  );
}

function pricesNote(unpriced: ReturnType<typeof unpricedRoot>): readonly string[] {
  return unpriced === null ? [] : [`${unpriced.found}: ${unpriced.fix.replace(/^S/, "s")}`];
}

async function extensionsOf(
  { locked }: ServeRequest,
  { settings, parts }: { readonly settings: Settings; readonly parts: SessionParts },
): Promise<readonly ExtensionFacts[]> {
  const all = await new AppExtensionAdmin(settings, parts).list();
  return locked ? all.filter(({ place }) => place !== "project") : all;
}

const KEPT_WORKSPACES = 16;

function suggestionsIn(
  { extension, locked }: ServeRequest,
  { settings, parts }: { readonly settings: Settings; readonly parts: SessionParts },
): HttpParts["suggestions"] {
  const { readFolders } = settings;
  const known = new BoundedMap<string, WorkspaceFiles>(KEPT_WORKSPACES);
  return {
    files: async (workspace, letters) => {
      const { WorkspaceFiles } = await import("../../channels/tui/workspace_files.ts");
      const files = known.get(workspace) ?? new WorkspaceFiles(workspace, readFolders);
      known.set(workspace, files);
      return await files.like(letters);
    },
    prompts: async ({ workspace, tenant }) => {
      // Conversations reach the repository around the workspace under the same condition.
      const root = locked || workspace !== settings.workspace ? null : rootOf(settings, parts.env);
      return await offeredPrompts({ ...settings, workspace, tenant }, { parts, extension, root });
    },
  };
}

function readyOf(settings: Settings, { stored }: Session["conversations"]): ReturnType<typeof readiness> {
  return readiness({
    database: settings.database,
    trySandbox: () => tryWalls(settings),
    fileFault: () => stored.writeFault(),
    now: Date.now,
  });
}

function undoOf(
  { locked }: ServeRequest,
  { settings, parts }: { readonly settings: Settings; readonly parts: SessionParts },
): Pick<HttpParts, "undo"> {
  if (locked?.writable === false) return {};
  return {
    undo: ({ conversationId: conversation, workspace, tenant }, options) =>
      runUndo(new AppExtensionAdmin({ ...settings, workspace, tenant }, parts), { conversation, ...options }),
  };
}

async function realFolders(paths: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(paths.map((path) =>
    Deno.realPath(path).catch((error: unknown) => {
      throw new ConfigError(
        `Cannot use ${path} of server.workspaces: ${fileFault(error)}; correct or remove the entry`,
      );
    })
  ));
}

function limitsOf({ requestsPerMinute: perMinute, burst, bodyMiB, shutdownMs }: Config["server"]) {
  const rate = { perMinute, burst };
  const chunked = runtimeSince("2.8.0"); // Deno before 2.8.0 hides a Content-Length after Transfer-Encoding.
  return { ...LIMITS, chunked, perToken: rate, perAddress: rate, bodyBytes: bodyMiB * 1024 * 1024, shutdownMs };
}

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];

/** Since 2.8, Deno does not abort the signal of a request whose body arrived after its headers
 * (`wait_raw_response_ready` of its `ext/http`). */
export function ownConnections(
  { os, version }: { readonly os: string; readonly version: string } = {
    os: Deno.build.os,
    version: Deno.version.deno,
  },
): OwnConnections | null {
  if (os !== "linux") return null;
  let proc: typeof PROC | null = null;
  return {
    read: async () => {
      const { PROC } = await import("../../processes/proc_files.ts");
      proc = PROC;
      return TABLES.map((path) => wholeOf(path, PROC)).join("\n");
    },
    end: (inodes) => proc?.endSockets(inodes),
    missesLeaving: runtimeSince("2.8.0", version),
  };
}

function wholeOf(path: string, files: { readWhole(path: string): string }): string {
  try {
    return files.readWhole(path);
  } catch {
    return "";
  }
}

export function openNotes(
  host: string,
  hosts: readonly string[],
  { port = "", own = ownAddresses }: { readonly port?: string; readonly own?: () => readonly string[] } = {},
): readonly string[] {
  if (isLoopback(host)) return [];
  const isUnnamed = isAllAddresses(host) && hosts.length === 0;
  const addresses = isUnnamed ? own() : numericOf(host, hosts);
  const [address = "HOST"] = addresses;
  const opened = addresses.map((one) => addressAt(one, port)).join(" or ");
  const unnamed =
    "Vis refuses requests from other machines until server.hosts has the host name or IP address that they use: " +
    `run vis config set server.hosts ${address}, and start vis serve again` +
    (opened === "" ? "" : `; this machine has ${opened}`);
  return [
    ...isUnnamed ? [unnamed] : [],
    `other machines can reach ${
      isUnnamed ? host : opened || host
    }, and Vis sends tokens and texts unencrypted: put a proxy with TLS in front of the server`,
  ];
}

function numericOf(host: string, hosts: readonly string[]): readonly string[] {
  return isAllAddresses(host) ? hosts.filter((one) => /^[\d.]+$/.test(one)) : [];
}

function addressAt(host: string, port: string): string {
  return `http://${host}${port === "" ? "" : `:${port}`}`;
}

/** Other machines reach a server on all addresses by a name that `server.hosts` has. */
export function reachedAt(
  url: string,
  { host, hosts }: { readonly host: string; readonly hosts: readonly string[] },
): readonly string[] {
  if (isLoopback(host)) return [];
  return isAllAddresses(host) ? numericOf(host, hosts).map((one) => addressAt(one, new URL(url).port)) : [url];
}

const MOST_ADDRESSES = 3;

/** Omits IPv6, because a link-local address needs the name of an interface. */
function ownAddresses(): readonly string[] {
  try {
    return Deno.networkInterfaces().filter(({ family, address }) => family === "IPv4" && !isLoopback(address))
      .map(({ address }) => address).slice(0, MOST_ADDRESSES);
  } catch {
    return [];
  }
}

import type { RunningServer, ServeRequest, Session } from "../../channels/channel.ts";
import type { HttpParts } from "../../channels/http/env.ts";
import { startHttp } from "../../channels/http/start_http.ts";
import type { Config } from "../../config/schema.ts";
import { ConfigError, fileFault } from "../../domain/errors.ts";
import type { ExtensionFacts, VersionFacts } from "../../domain/reports.ts";
import { runUndo } from "../../domain/undo.ts";
import { createLog } from "../../logging/log.ts";
import { AppExtensionAdmin } from "../extensions/extension_admin.ts";
import { wantedTelemetry } from "../otel/wanted_telemetry.ts";
import { unpricedRoot } from "../providers/build_router.ts";
import { AppProviderAdmin } from "../providers/provider_admin.ts";
import type { SessionParts } from "../session/open_session.ts";
import { openTraced } from "../session/open_traced.ts";
import { tryWalls } from "../session/try_walls.ts";
import type { Settings } from "../settings/settings.ts";
import { openNotes } from "./open_notes.ts";
import { ownConnections } from "./own_connections.ts";
import { readService } from "./read_service.ts";
import { readiness } from "./readiness.ts";
import { runtimeSince } from "./runtime_since.ts";
import { serverTokens } from "./server_tokens.ts";
import type { TelegramHook } from "./telegram_hook.ts";

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

/** Opens a session behind the HTTP channel. Throws `ConfigError`, `UsageError` and `StoreError`; nothing is left open
 * then. */
export async function serve(
  given: ServeRequest,
  { version, ...parts }: SessionParts & { readonly version: VersionFacts },
): Promise<RunningServer> {
  const { request, settings, notes: ofProfile } = await readService(given, parts);
  const { server: config } = settings.config;
  const host = request.host ?? config.host;
  const { source, token, from, notes } = await serverTokens(request, { env: parts.env, settings });
  const telemetry = parts.telemetry ?? await wantedTelemetry(parts.env, version.vis);
  const session = await openTraced({ ...request, node: true }, { ...parts, telemetry, version: version.vis });
  let bot: TelegramHook | null = null;
  try {
    bot = await botOf(request, { settings, parts, session });
    const { conversations, workspace, provider, model } = session;
    const unpriced = unpricedRoot(conversations, settings, { serves: true });
    const server = startHttp({
      ...{ conversations, workspace, provider, model },
      tokens: source,
      usedToday: await conversations.stored.labelUse(new Date().setUTCHours(0, 0, 0, 0)),
      version: version.vis,
      admin: new AppProviderAdmin(settings),
      extensions: { list: () => extensionsOf(request, { settings, parts }) },
      workspaces: await realFolders(config.workspaces),
      budget: settings.config.budget,
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
      notes: [
        ...ofProfile,
        ...openNotes(host),
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

function pricesNote(unpriced: ReturnType<typeof unpricedRoot>): readonly string[] {
  return unpriced === null ? [] : [`${unpriced.found}: ${unpriced.fix.replace(/^S/, "s")}`];
}

/** Telegram's code is only loaded if its webhook is served. */
async function botOf(
  request: ServeRequest,
  rest: { readonly settings: Settings; readonly parts: SessionParts; readonly session: Session },
): Promise<TelegramHook | null> {
  if (rest.settings.config.telegram.webhookUrl === null) return null;
  const { telegramHook } = await import("./telegram_hook.ts");
  return await telegramHook(request, rest);
}

async function extensionsOf(
  { locked }: ServeRequest,
  { settings, parts }: { readonly settings: Settings; readonly parts: SessionParts },
): Promise<readonly ExtensionFacts[]> {
  const all = await new AppExtensionAdmin(settings, parts).list();
  return locked ? all.filter(({ place }) => place !== "project") : all;
}

function readyOf(settings: Settings, { stored }: Session["conversations"]): ReturnType<typeof readiness> {
  return readiness({
    database: settings.database,
    trySandbox: () => tryWalls(settings),
    fileFault: () => stored.writeFault(),
    now: Date.now,
  });
}

/** Absent if nothing may be written into the workspace. */
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

/** Throws `ConfigError` for a folder that does not exist. */
async function realFolders(paths: readonly string[]): Promise<readonly string[]> {
  return await Promise.all(paths.map((path) =>
    Deno.realPath(path).catch((error: unknown) => {
      throw new ConfigError(`Cannot use ${path} of server.workspaces: ${fileFault(error)}`);
    })
  ));
}

function limitsOf({ requestsPerMinute: perMinute, burst, bodyMiB, shutdownMs }: Config["server"]) {
  const rate = { perMinute, burst };
  const chunked = runtimeSince("2.8.0"); // earlier ones hide a Content-Length after Transfer-Encoding
  return { ...LIMITS, chunked, perToken: rate, perAddress: rate, bodyBytes: bodyMiB * 1024 * 1024, shutdownMs };
}

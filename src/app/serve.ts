import type { RunningServer, ServeRequest, VersionFacts } from "../channels/channel.ts";
import { oneToken } from "../channels/http/one_token.ts";
import { startHttp } from "../channels/http/start_http.ts";
import { createLog } from "../logging/log.ts";
import { openSession, type SessionParts } from "./open_session.ts";
import { AppProviderAdmin } from "./provider_admin.ts";
import { serverToken } from "./server_token.ts";
import { readSettings } from "./settings.ts";

const LIMITS = {
  bodyMs: 30_000,
  headerBytes: 32_768,
  urlBytes: 8_192,
  heartbeatMs: 15_000,
  perToken: { perMinute: 6_000, burst: 500 },
  perAddress: { perMinute: 6_000, burst: 500 },
  wrongTokens: { perMinute: 60, burst: 30 },
} as const;
const NO_QUOTA = { queriesPerDay: null, costUsdPerDay: null, concurrent: null } as const;

/** A session behind the HTTP channel. Throws `ConfigError`, `UsageError` and `StoreError`; nothing is open then. */
export async function serve(
  request: ServeRequest,
  { version, ...parts }: SessionParts & { readonly version: VersionFacts },
): Promise<RunningServer> {
  const settings = await readSettings(request, parts.env);
  const { server: config } = settings.config;
  const { token, from, notes } = await serverToken(request, { env: parts.env, settings });
  const session = await openSession(request, parts);
  try {
    const { conversations, workspace, provider, model } = session;
    const server = startHttp({
      ...{ conversations, workspace, provider, model },
      tokens: oneToken(token, NO_QUOTA),
      version: version.vis,
      admin: new AppProviderAdmin(settings),
      log: createLog("http"),
      now: Date.now,
      hosts: config.hosts,
      proxies: [],
      limits: { ...LIMITS, bodyBytes: config.bodyMiB * 1024 * 1024, shutdownMs: config.shutdownMs },
    }, { host: request.host ?? config.host, port: request.port ?? config.port });
    return {
      url: server.url,
      token,
      tokenFrom: from,
      provider,
      model,
      notes: [...session.notes ?? [], ...notes],
      close: async () => {
        await server.close();
        await session.close();
      },
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}

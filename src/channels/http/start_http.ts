import { isLoopback } from "../../domain/kit/addresses.ts";
import { Quotas } from "./auth/quotas.ts";
import { createApp } from "./create_app.ts";
import { Listener } from "./listener.ts";
import { TenantMetrics } from "./metrics/tenant_metrics.ts";
import { AbandonedCalls } from "./request/abandoned_calls.ts";
import { Idempotency } from "./request/idempotency.ts";
import { ListedModels } from "./request/listed_models.ts";
import { Connections } from "./routing/connections.ts";
import type { HttpParts } from "./routing/http_parts.ts";
import { Runs } from "./stream/runs.ts";

/** Clients that do not read their response are disconnected after this. */
const LAST_BYTES_MS = 2_000;

export interface HttpServer {
  /** Contains the actual port and ends with "/". */
  readonly url: string;
  /** Stops accepting requests, lets running queries finish within their time, cancels the rest, and resolves when
   * everything is sent, or after 2 more seconds. */
  close(): Promise<void>;
}

/** Starts listening. Throws `ConfigError` if the address is unavailable. */
export function startHttp(parts: HttpParts, at: { readonly host: string; readonly port: number }): HttpServer {
  const { shared } = parts.conversations;
  const metrics = new TenantMetrics({ ...parts, load: shared && (() => shared.load()) });
  const quotas = new Quotas(parts.now, parts.usedToday);
  const runs = new Runs(quotas, { shared, onEvent: ({ tenant }, event) => metrics.event(tenant, event) });
  const learning = shared ? setInterval(() => void learnUse(quotas, parts).catch(() => {}), parts.limits.useMs) : 0;
  const hosts = new Set<string>();
  /** Requests whose response is not complete. */
  const open = new Set<Promise<void>>();
  const { within = (_request, work) => work(() => {}) } = parts;
  const app = createApp(parts, hosts);
  const common = {
    ...{ parts, runs, metrics },
    once: new Idempotency(),
    abandoned: new AbandonedCalls(),
    models: new ListedModels(parts),
  };
  const listener = new Listener({
    ...at,
    failed: (why) => parts.log.error("connections_dropped", { why }),
    answer: async (request, { completed, remoteAddr }): Promise<Response> => {
      const { hostname: remote, port: client } = remoteAddr;
      const answered = connections.begin(client);
      const done = completed.catch(() => {}).then(() => {
        open.delete(done);
        answered();
      });
      open.add(done);
      const env = {
        ...common,
        remote,
        sent: done,
        leaving: connections.leaving(request, client),
        noticeLeft: () => connections.look(),
      };
      return await within(request, async (routed) => await app.fetch(request, { ...env, routed }));
    },
  });
  const { port } = listener;
  const connections = new Connections(port, { own: parts.ownConnections ?? null, limits: parts.limits.idle });
  connections.start();
  for (const name of namesOf(at.host, port, parts.hosts)) hosts.add(name);
  const shown = at.host.includes(":") ? `[${at.host}]` : at.host;
  return {
    url: `http://${shown}:${port}/`,
    close: async () => {
      connections.stop();
      clearInterval(learning);
      const { shutdownMs } = parts.limits;
      await Promise.all([runs.close(shutdownMs), shared?.drain(shutdownMs)]);
      await endListener(listener, open);
    },
  };
}

/** Ends it once every response is sent, or after two seconds; until then, clients get an answer. */
async function endListener(listener: Listener, open: ReadonlySet<Promise<void>>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LAST_BYTES_MS);
  await Promise.race([Promise.all(open), late]);
  // A request whose response is complete may still have bytes to send.
  await listener.close(open.size === 0 ? late : null);
  clearTimeout(timer);
}

/** Reads what tokens have used today on all nodes. */
async function learnUse(quotas: Quotas, { conversations, now }: HttpParts): Promise<void> {
  const midnight = (): number => new Date(now()).setUTCHours(0, 0, 0, 0);
  const since = midnight();
  const stored = await conversations.stored.labelUse(since);
  if (midnight() === since) quotas.learn(stored);
}

/** Loopback has three names; any other address has one. */
function namesOf(host: string, port: number, configured: readonly string[]): readonly string[] {
  const isAll = host === "0.0.0.0" || host === "::";
  const loopback = isAll || isLoopback(host) ? ["localhost", "127.0.0.1", "[::1]"] : [];
  const own = isAll ? [] : [host.includes(":") ? `[${host}]` : host];
  return [
    ...[...loopback, ...own].map((name) => `${name}:${port}`),
    ...(port === 80 ? [...loopback, ...own] : []),
    ...configured,
  ].map((name) => name.toLowerCase());
}

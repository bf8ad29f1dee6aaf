import { isAllAddresses, isLoopback, serverUrl } from "../../domain/kit/addresses.ts";
import { DEFAULT_TENANT } from "../../domain/kit/ids.ts";
import { Connections, Listener } from "./connections.ts";
import { createApp } from "./create_app.ts";
import type { HttpParts } from "./http_parts.ts";
import { ListedModels } from "./listed_models.ts";
import { TenantMetrics } from "./metrics.ts";
import { AbandonedCalls, Idempotency } from "./repeated_requests.ts";
import { Runs } from "./live_runs.ts";
import { Quotas } from "./tokens.ts";

const LAST_BYTES_MS = 2_000;

interface HttpServer {
  readonly url: string;
  /** Gives running queries `shutdownMs` to end, and then gives their responses 2 more seconds. */
  close(): Promise<void>;
}

export function startHttp(parts: HttpParts, at: { readonly host: string; readonly port: number }): HttpServer {
  const { shared } = parts.conversations;
  const metrics = new TenantMetrics({ ...parts, load: shared && (() => shared.load()) });
  const quotas = new Quotas(parts.now, parts.usedToday);
  const { elsewhere } = parts.conversations.of({ tenant: DEFAULT_TENANT, all: true });
  const runs = new Runs(quotas, { shared, elsewhere, onEvent: ({ tenant }, event) => metrics.event(tenant, event) });
  const learning = shared ? setInterval(() => void learnUse(quotas, parts).catch(() => {}), parts.limits.useMs) : 0;
  const hosts = new Set<string>();
  const open = new Set<Promise<void>>();
  const { within = (_request, work) => work(() => {}) } = parts;
  const app = createApp(parts, hosts);
  const common = {
    ...{ parts, runs, metrics },
    once: new Idempotency(),
    abandoned: new AbandonedCalls(),
    models: new ListedModels(parts.admin, parts.now),
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
  return {
    url: serverUrl(at.host, port),
    close: async () => {
      connections.stop();
      clearInterval(learning);
      const { shutdownMs } = parts.limits;
      await Promise.all([runs.close(shutdownMs), shared?.drain(shutdownMs)]);
      await endListener(listener, open);
    },
  };
}

async function endListener(listener: Listener, open: ReadonlySet<Promise<void>>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LAST_BYTES_MS);
  await Promise.race([Promise.all(open), late]);
  // The last bytes of a complete response may still be unsent.
  await listener.close(open.size === 0 ? late : null);
  clearTimeout(timer);
}

async function learnUse(quotas: Quotas, { conversations, now }: HttpParts): Promise<void> {
  const midnight = (): number => new Date(now()).setUTCHours(0, 0, 0, 0);
  const since = midnight();
  const stored = await conversations.stored.labelUse(since);
  if (midnight() === since) quotas.learn(stored);
}

function namesOf(host: string, port: number, configured: readonly string[]): readonly string[] {
  const isAll = isAllAddresses(host);
  const loopback = isAll || isLoopback(host) ? ["localhost", "127.0.0.1", "[::1]"] : [];
  const own = isAll ? [] : [host.includes(":") ? `[${host}]` : host];
  return [
    ...[...loopback, ...own].map((name) => `${name}:${port}`),
    ...(port === 80 ? [...loopback, ...own] : []),
    ...configured,
  ].map((name) => name.toLowerCase());
}

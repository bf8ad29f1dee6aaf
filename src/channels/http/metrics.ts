import process from "node:process";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { SharedQueries } from "../../conversation/conversations.ts";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import { isOwnEnd } from "../../domain/query/query_event.ts";
import type { QueryEvent, QueryResult } from "../../domain/query/query_schemas.ts";
import type { TokenGrant } from "./tokens.ts";

const KEPT_TENANTS = 1000;

export class TenantMetrics {
  readonly #options: MetricsOptions;
  readonly #all: Metrics;
  readonly #tenants = new BoundedMap<string, Metrics>(KEPT_TENANTS);

  constructor(options: MetricsOptions) {
    this.#options = options;
    this.#all = new Metrics(options);
  }

  event(tenant: string, event: QueryEvent): void {
    for (const metrics of this.of(tenant)) metrics.event(event);
  }

  async text({ tenant, all }: Pick<TokenGrant, "tenant" | "all">, running: number): Promise<string> {
    const [whole, own] = this.of(tenant);
    return await (all ? whole : own).text(running);
  }

  of(tenant: string): readonly [Metrics, Metrics] {
    const own = this.#tenants.get(tenant) ?? new Metrics({ ...this.#options, load: null });
    this.#tenants.set(tenant, own);
    return [this.#all, own];
  }
}

const REQUEST_BOUNDS = [.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10];
const QUERY_BOUNDS = [.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

interface MetricsOptions {
  readonly version: string;
  readonly now: () => number;
  readonly load: SharedQueries["load"] | null;
}

interface ServedRequest {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

class Metrics {
  readonly #all = new Registry();
  readonly #requests = this.#counter("vis_http_requests_total", "HTTP requests by route and status.", [
    "method",
    "route",
    "status",
  ]);
  readonly #requestSeconds = this.#histogram("vis_http_request_duration_seconds", {
    help: "Time until the headers of a response were ready.",
    buckets: REQUEST_BOUNDS,
    labelNames: ["method", "route"],
  });
  readonly #streams = this.#gauge("vis_http_streams_open", "Open event streams.");
  readonly #running = this.#gauge("vis_queries_running", "Queries that are running or waiting.");
  readonly #queries = this.#counter("vis_queries_total", "Queries that ended, by status and reason.", [
    "status",
    "reason",
  ]);
  readonly #querySeconds = this.#histogram("vis_query_duration_seconds", {
    help: "Duration of queries.",
    buckets: QUERY_BOUNDS,
  });
  readonly #iterations = this.#counter("vis_iterations_total", "Iterations by outcome.", ["outcome"]);
  readonly #blocks = this.#counter("vis_blocks_total", "Blocks of code by outcome.", ["outcome"]);
  readonly #blockSeconds = this.#counter("vis_block_seconds_total", "Total duration of blocks.");
  readonly #calls = this.#counter("vis_host_calls_total", "Calls of host functions, by success.", ["ok"]);
  readonly #tokens = this.#counter("vis_tokens_total", "Tokens by kind, as counted by providers or estimated.", [
    "kind",
  ]);
  readonly #cost = this.#counter("vis_cost_dollars_total", "Cost in US dollars of queries with a known price.");
  readonly #memory = this.#gauge(
    "process_resident_memory_bytes",
    "Memory of the main process, without its sandboxes.",
  );
  readonly #cpu = this.#counter("process_cpu_seconds_total", "Processor time of the main process.");
  #readLoad: (() => Promise<void>) | null = null;

  constructor({ version, now, load }: MetricsOptions) {
    if (load) this.#showLoad(load);
    this.#gauge("vis_build_info", "Always 1; the version is a label.", ["version"]).set({ version }, 1);
    const began = Math.round(now() - performance.now()) / 1000;
    this.#gauge("process_start_time_seconds", "Start time of the process, in seconds since the epoch.").set(began);
  }

  request({ method, route, status, ms }: ServedRequest): void {
    this.#requests.inc({ method, route, status });
    this.#requestSeconds.observe({ method, route }, ms / 1000);
  }

  stream(): () => void {
    this.#streams.inc();
    return () => this.#streams.dec();
  }

  event(event: QueryEvent): void {
    if (event.type === "iteration_finished") this.#iterations.inc({ outcome: event.outcome });
    if (event.type === "host_call" && event.phase === "end") this.#calls.inc({ ok: String(event.ok ?? false) });
    if (event.type === "block_finished") {
      this.#blocks.inc({ outcome: event.result.outcome });
      this.#blockSeconds.inc(event.result.ms / 1000);
    }
    if (isOwnEnd(event)) this.#ended(event.result);
  }

  async text(running: number): Promise<string> {
    const { user, system } = process.cpuUsage();
    this.#cpu.reset();
    this.#cpu.inc((user + system) / 1e6);
    this.#memory.set(Deno.memoryUsage().rss);
    this.#running.set(running);
    await this.#readLoad?.();
    return (await this.#all.metrics()).replaceAll("\n\n", "\n");
  }

  #showLoad(load: SharedQueries["load"]): void {
    const depth = this.#gauge("vis_queue_depth", "Queries that wait for a node.");
    const oldest = this.#gauge(
      "vis_queue_oldest_seconds",
      "Seconds that the oldest waiting query has waited for a node.",
    );
    const takeovers = this.#counter("vis_takeovers_total", "Queries of lost nodes that this node continued.");
    this.#readLoad = async () => {
      const now = await load();
      depth.set(now.depth);
      oldest.set(now.oldestMs / 1000);
      takeovers.reset();
      takeovers.inc(now.takeovers);
    };
  }

  #ended({ status, reason, ms, usage, costUsd }: QueryResult): void {
    this.#queries.inc({ status, reason });
    this.#querySeconds.observe(ms / 1000);
    this.#cost.inc(costUsd ?? 0);
    const { input, output, cached, cacheWrite = 0, reasoning } = usage;
    const kinds = { input, output, cached, cache_write: cacheWrite, reasoning };
    for (const [kind, count] of Object.entries(kinds)) this.#tokens.inc({ kind }, count);
  }

  #counter(name: string, help: string, labelNames: string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#all] });
  }

  #gauge(name: string, help: string, labelNames: string[] = []): Gauge {
    return new Gauge({ name, help, labelNames, registers: [this.#all] });
  }

  #histogram(
    name: string,
    about: { readonly help: string; readonly buckets: number[]; readonly labelNames?: string[] },
  ): Histogram {
    return new Histogram({ name, ...about, registers: [this.#all] });
  }
}

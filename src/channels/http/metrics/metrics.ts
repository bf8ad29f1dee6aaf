import process from "node:process";
import { isChild, isEnd, type QueryEvent } from "../../../domain/query/query_event.ts";
import type { QueryResult } from "../../../domain/query/query_result.ts";
import { Exposition } from "./exposition.ts";

const REQUEST_BOUNDS = [.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10];
const QUERY_BOUNDS = [.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800];

/** The server's own metrics, for Prometheus. They contain no user text. */
export class Metrics {
  readonly #all = new Exposition();
  readonly #requests = this.#all.counter("vis_http_requests_total", "Requests by route and status.");
  readonly #requestSeconds = this.#all.histogram("vis_http_request_duration_seconds", {
    help: "Time until the headers of a response were ready.",
    bounds: REQUEST_BOUNDS,
  });
  readonly #streams = this.#all.gauge("vis_http_streams_open", "Open event streams.");
  readonly #running = this.#all.gauge("vis_queries_running", "Queries that are running or waiting.");
  readonly #queries = this.#all.counter("vis_queries_total", "Queries that ended, by status and reason.");
  readonly #querySeconds = this.#all.histogram("vis_query_duration_seconds", {
    help: "Duration of queries.",
    bounds: QUERY_BOUNDS,
  });
  readonly #iterations = this.#all.counter("vis_iterations_total", "Iterations by outcome.");
  readonly #blocks = this.#all.counter("vis_blocks_total", "Blocks of code by outcome.");
  readonly #blockSeconds = this.#all.counter("vis_block_seconds_total", "Total duration of blocks.");
  readonly #calls = this.#all.counter("vis_host_calls_total", "Calls of host functions, by success.");
  readonly #tokens = this.#all.counter("vis_tokens_total", "Tokens as counted by providers, by kind.");
  readonly #cost = this.#all.counter("vis_cost_dollars_total", "Cost in US dollars of queries with a known price.");
  readonly #process = {
    build: this.#all.gauge("vis_build_info", "Always 1; the version is a label."),
    memory: this.#all.gauge("process_resident_memory_bytes", "Memory of the main process, without its sandboxes."),
    cpu: this.#all.total("process_cpu_seconds_total", "Processor time of the main process."),
    began: this.#all.gauge("process_start_time_seconds", "Start time of the process, in seconds since the epoch."),
  };
  readonly #facts: { readonly version: string; readonly now: () => number };
  readonly #began: number;
  #open = 0;

  constructor(facts: { readonly version: string; readonly now: () => number }) {
    this.#facts = facts;
    this.#began = facts.now() - performance.now();
  }

  /** Counts a response whose headers are ready. `route` is the path with parameter names. */
  request({ method, route, status, ms }: {
    readonly method: string;
    readonly route: string;
    readonly status: number;
    readonly ms: number;
  }): void {
    this.#requests(1, { method, route, status: String(status) });
    this.#requestSeconds(ms / 1000, { method, route });
  }

  /** Counts a stream until the returned function is called. */
  stream(): () => void {
    this.#open++;
    const once = { done: false };
    return () => {
      if (!once.done) this.#open--;
      once.done = true;
    };
  }

  /** Receives every event of every query, including child queries. */
  event(event: QueryEvent): void {
    if (event.type === "iteration_finished") this.#iterations(1, { outcome: event.outcome });
    if (event.type === "host_call" && event.phase === "end") this.#calls(1, { ok: String(event.ok ?? false) });
    if (event.type === "block_finished") {
      this.#blocks(1, { outcome: event.result.outcome });
      this.#blockSeconds(event.result.ms / 1000);
    }
    if (isEnd(event) && !isChild(event)) this.#ended(event.result);
  }

  /** All metrics as text; `running` is the number of running queries. */
  text(running: number): string {
    const { user, system } = process.cpuUsage();
    this.#process.build(1, { version: this.#facts.version });
    this.#process.memory(Deno.memoryUsage().rss);
    this.#process.cpu((user + system) / 1e6);
    this.#process.began(Math.round(this.#began) / 1000);
    this.#running(running);
    this.#streams(this.#open);
    return this.#all.text();
  }

  /** A query's usage includes that of its child queries. */
  #ended({ status, reason, ms, usage, costUsd }: QueryResult): void {
    this.#queries(1, { status, reason });
    this.#querySeconds(ms / 1000);
    this.#cost(costUsd ?? 0);
    const { input, output, cached, cacheWrite = 0, reasoning } = usage;
    const kinds = { input, output, cached, cache_write: cacheWrite, reasoning };
    for (const [kind, count] of Object.entries(kinds)) this.#tokens(count, { kind });
  }
}

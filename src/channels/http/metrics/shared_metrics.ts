import { Counter, Gauge, type Registry } from "prom-client";

/** What the nodes of a database do together, for Prometheus. */
export class SharedMetrics {
  readonly #depth: Gauge;
  readonly #oldest: Gauge;
  readonly #takeovers: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#depth = new Gauge({ name: "vis_queue_depth", help: "Requests that wait for a node.", registers });
    this.#oldest = new Gauge({
      name: "vis_queue_oldest_seconds",
      help: "How long the oldest of them has waited.",
      registers,
    });
    this.#takeovers = new Counter({
      name: "vis_takeovers_total",
      help: "Queries of lost nodes that this one continued.",
      registers,
    });
  }

  set({ depth, oldestMs, takeovers }: {
    readonly depth: number;
    readonly oldestMs: number;
    readonly takeovers: number;
  }): void {
    this.#depth.set(depth);
    this.#oldest.set(oldestMs / 1000);
    this.#takeovers.reset();
    this.#takeovers.inc(takeovers);
  }
}

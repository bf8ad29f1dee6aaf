import { BoundedMap } from "../../../domain/kit/bounded_map.ts";
import type { QueryEvent } from "../../../domain/query/query_schemas.ts";
import type { TokenGrant } from "../auth/token_grant.ts";
import { Metrics, type MetricsOptions } from "./metrics.ts";

/** Tenants whose metrics are kept. */
const KEPT_TENANTS = 1000;

/** The metrics of the server, and the part that the tokens of each tenant caused. */
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

  /** What a caller may see, in the Prometheus text format; `running` is the number of running queries. */
  async text({ tenant, all }: Pick<TokenGrant, "tenant" | "all">, running: number): Promise<string> {
    const [whole, own] = this.of(tenant);
    return await (all ? whole : own).text(running);
  }

  /** Where something of a tenant is counted: those of the server, and those of the tenant. */
  of(tenant: string): readonly [Metrics, Metrics] {
    const own = this.#tenants.get(tenant) ?? new Metrics({ ...this.#options, load: null });
    this.#tenants.set(tenant, own);
    return [this.#all, own];
  }
}

import { z } from "zod";
import type { Metrics } from "./metrics.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import type { Runs } from "../stream/runs.ts";

const TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Route for metrics. It requires a token, since the numbers reveal activity. */
export function metricsRoutes(
  { metrics, runs }: { readonly metrics: Metrics; readonly runs: Runs },
): readonly HttpRoute[] {
  return [
    route({
      method: "get",
      path: "/metrics",
      operation: "metrics",
      summary: "Get the metrics of the server in the Prometheus text format",
      tag: "server",
      answers: { 200: { description: "The metrics", schema: z.string(), types: ["text/plain"] } },
      handle: () =>
        new Response(metrics.text(runs.size), { headers: { "content-type": TYPE, "cache-control": "no-store" } }),
    }),
  ];
}

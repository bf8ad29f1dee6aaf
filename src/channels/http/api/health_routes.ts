import { z } from "zod";
import type { HttpParts } from "../routing/http_parts.ts";
import { jsonResponse } from "../response/json_response.ts";
import { Problem } from "../response/problem.ts";
import { type HttpRoute, route } from "../routing/route.ts";
import type { Runs } from "../stream/runs.ts";

const StatusSchema = z.object({ status: z.literal("ok") });
const ReadySchema = StatusSchema.extend({ checks: z.record(z.string(), z.literal("ok")) });

/** Health checks for operators: liveness and readiness. They need no token. */
export function healthRoutes(
  { parts, runs }: { readonly parts: HttpParts; readonly runs: Runs },
): readonly HttpRoute[] {
  return [
    route({
      method: "get",
      path: "/healthz",
      operation: "health",
      summary: "Liveness: the process responds",
      tag: "operations",
      answers: { 200: { description: "The process responds", schema: StatusSchema } },
      handle: () => jsonResponse({ status: "ok" }),
    }),
    route({
      method: "get",
      path: "/readyz",
      operation: "readiness",
      summary: "Readiness: the database responds and its file exists, a sandbox starts, the disk has space",
      tag: "operations",
      answers: { 200: { description: "The server can run queries", schema: ReadySchema } },
      handle: async () => {
        if (runs.closing) {
          throw new Problem("Cannot start a query: the server is shutting down", { kind: "unavailable" });
        }
        await parts.conversations.list({ limit: 1 });
        const found = await parts.ready?.() ?? {};
        const errors = Object.entries(found).filter(([, fault]) => fault !== "")
          .map(([path, message]) => ({ path, message }));
        const [first] = errors;
        if (first) throw new Problem(`Cannot run queries: ${first.path}`, { kind: "unavailable", errors });
        const checks = Object.fromEntries(["database", ...Object.keys(found)].map((name) => [name, "ok"]));
        return jsonResponse({ status: "ok", checks });
      },
    }),
  ];
}

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
      summary: "The process answers",
      tag: "operations",
      answers: { 200: { description: "It does", schema: StatusSchema } },
      handle: () => jsonResponse({ status: "ok" }),
    }),
    route({
      method: "get",
      path: "/readyz",
      operation: "readiness",
      summary: "Queries are taken: the database answers, its file is there, a sandbox starts, the disk has room",
      tag: "operations",
      answers: { 200: { description: "They are", schema: ReadySchema } },
      handle: async () => {
        if (runs.closing) throw new Problem("Cannot begin a query: the server is ending", { kind: "unavailable" });
        await parts.conversations.list({ limit: 1 });
        const found = await parts.ready?.() ?? {};
        const errors = Object.entries(found).filter(([, fault]) => fault !== "")
          .map(([path, message]) => ({ path, message }));
        const [first] = errors;
        if (first) throw new Problem(`Cannot take queries: ${first.path}`, { kind: "unavailable", errors });
        const checks = Object.fromEntries(["database", ...Object.keys(found)].map((name) => [name, "ok"]));
        return jsonResponse({ status: "ok", checks });
      },
    }),
  ];
}

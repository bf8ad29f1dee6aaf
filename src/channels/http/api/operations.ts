import { settledWithin } from "../../../domain/kit/time.ts";
import { describeIn } from "../request/describe.ts";
import type { Env } from "../request/env.ts";
import { Problem } from "../response/problem.ts";
import { Hono } from "hono";
import { z } from "zod";

const StatusSchema = z.object({ status: z.literal("ok") });
const ReadySchema = StatusSchema.extend({
  checks: z.record(z.string(), z.literal("ok")),
  warnings: z.record(z.string(), z.string()).optional().describe("Faults that keep no request from being served"),
});

const describe = describeIn("operations");
/** How long the database has for an answer. */
const READ_MS = 5_000;

/** For operators: liveness and readiness. */
export const operations = new Hono<Env>();

operations.get(
  "/healthz",
  describe("health", "Liveness: the process responds", { scope: null, 200: StatusSchema }),
  (c) => c.json({ status: "ok" }),
);

operations.get(
  "/readyz",
  describe("readiness", "Readiness: the database responds and its file exists, a sandbox starts, the disk has space", {
    scope: null,
    200: ReadySchema,
  }),
  async (c) => {
    const { parts, runs } = c.env;
    if (runs.closing) throw new Problem("Cannot start a query: the server is shutting down", { kind: "unavailable" });
    const read = parts.conversations.list({ limit: 1 });
    const [isRead, found = {}] = await Promise.all([settledWithin(read, READ_MS), parts.ready?.()]);
    if (isRead) await read;
    else throw new Problem("Cannot run queries: the database does not answer", { kind: "unavailable" });
    const errors = Object.entries(found).filter(([, fault]) => fault !== "")
      .map(([path, message]) => ({ path, message }));
    const [first] = errors;
    if (first) throw new Problem(`Cannot run queries: ${first.path}`, { kind: "unavailable", errors });
    const tokens = await parts.tokens.fault?.() ?? "";
    return c.json({
      status: "ok",
      ...(tokens === "" ? {} : { warnings: { tokens } }),
      checks: Object.fromEntries(["database", ...Object.keys(found)].map((name) => [name, "ok"])),
    });
  },
);

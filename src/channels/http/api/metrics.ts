import { Hono } from "hono";
import { describeIn } from "../request/describe.ts";
import type { Env } from "../request/env.ts";

/** For Prometheus. It requires a token, since the numbers reveal activity. */
export const metricsRoute = new Hono<Env>().get(
  "/metrics",
  describeIn("server")("metrics", "Get the metrics of the server in the Prometheus text format", { 200: "text/plain" }),
  async (c) => {
    const text = await c.env.metrics.text(c.var.caller, c.env.runs.running(c.var.caller));
    return c.body(text, 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  },
);

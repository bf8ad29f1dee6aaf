import { type Context, Hono, type MiddlewareHandler } from "hono";
import { except } from "hono/combine";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { matchedRoutes } from "hono/route";
import { withPatience } from "../../domain/kit/concurrency.ts";
import { DEFAULT_TENANT, newId } from "../../domain/kit/ids.ts";
import { conversations } from "./api/conversations.ts";
import { messages } from "./api/messages.ts";
import { metricsRoute } from "./api/metrics.ts";
import { operations } from "./api/operations.ts";
import { queries } from "./api/queries.ts";
import { server } from "./api/server.ts";
import { undo } from "./api/undo.ts";
import { documents } from "./docs/documents.ts";
import { chat } from "./openai/chat.ts";
import { openAiErrorBody, openAiHeaders } from "./openai/error.ts";
import { responses } from "./openai/responses.ts";
import { pageFiles } from "./page_file.ts";
import { admission } from "./request/admission.ts";
import type { Env } from "./request/env.ts";
import { Problem, problemOf } from "./response/problem.ts";
import { SECURE_HEADERS } from "./response/secure_headers.ts";
import { tagged } from "./response/tagged.ts";
import type { HttpParts } from "./routing/http_parts.ts";
import { EVENT_STREAM_TYPE } from "./stream/event_stream.ts";

/** Other methods would let callers choose labels of metrics. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]);

/** How long a request waits for a lost database. Until that is noticed, some seconds more. */
const PATIENCE_MS = 4_000;
const CONVERSATION = "/api/v1/conversations/:id";

/** Handles everything between a request and its response. `hosts` are the names that it accepts, in lower case. */
export function createApp(parts: HttpParts, hosts: ReadonlySet<string>): Hono<Env> {
  const app = new Hono<Env>();
  const { admitted, authenticated } = admission(parts, hosts);
  app.use(requestId({ headerName: "", generator: requestIdOf }), observed, SECURE_HEADERS, admitted);
  app.use(methodNotAllowed({ app, onMethodNotAllowed }), tagged);
  // For anyone: these reveal nothing about any conversation, and hooks carry their own credentials.
  app.route("/", operations);
  app.route("/", pageFiles);
  app.route("/", documents(app, parts));
  for (const [path, answer] of Object.entries(parts.hooks ?? {})) {
    app.post(path, async (c) => {
      c.set("route", "hook");
      return await answer(c.req.raw);
    });
  }
  const open = app.routes.filter(({ method }) => method !== "ALL").map(({ path }) => path);
  app.use(except(open, authenticated));
  // Whoever asks has other servers to ask, and a run has only this one.
  app.use((_, next) => withPatience(PATIENCE_MS, next));
  app.route("/", metricsRoute);
  app.route("/api/v1", server);
  app.route("/api/v1/conversations", conversations);
  app.route(CONVERSATION, messages);
  app.route(CONVERSATION, queries);
  app.route(CONVERSATION, undo);
  app.route("/v1", chat);
  app.route("/v1", responses);
  app.notFound((c) => failed(c, new Problem("Cannot find this path", { kind: "not-found" })));
  app.onError((error, c) => failed(c, error));
  return app;
}

function onMethodNotAllowed(c: Context, methods: readonly string[]): Response {
  const allowed = methods.filter((method) => method !== "HEAD");
  return failed(
    c,
    new Problem(`Cannot use this method: allowed are ${allowed.join(" and ")}`, {
      kind: "method-not-allowed",
      headers: { allow: allowed.join(", ") },
    }),
  );
}

/** Problem details; in OpenAI's format for its clients. */
function failed(c: Context<Env>, error: unknown): Response {
  const { requestId } = c.var;
  const known = problemOf(error);
  if (known === null) {
    const stack = error instanceof Error ? error.stack : String(error);
    c.env.parts.log.error("request_defect", { requestId, stack });
  }
  const problem = known ??
    new Problem("Cannot answer: an unexpected error occurred; see the log of the server", { kind: "defect" });
  const { status, facts: { headers } } = problem;
  const [body, more] = c.req.path.startsWith("/v1/")
    ? [openAiErrorBody(problem), openAiHeaders(problem)]
    : [problem.details(requestId), { "content-type": "application/problem+json; charset=utf-8" }];
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers, ...more },
  });
}

/** Completes, counts and logs every response. */
const observed: MiddlewareHandler<Env> = async (c, next) => {
  const { parts, metrics } = c.env;
  const begun = parts.now();
  await next();
  const { headers, status } = c.res;
  const { requestId, address, caller }: Partial<Env["Variables"]> = c.var;
  headers.set("x-request-id", requestId ?? "");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  // The runtime hides a Content-Length after Transfer-Encoding: what follows on the connection may be no request.
  if (c.req.raw.headers.has("transfer-encoding")) headers.set("connection", "close");
  const { method, path } = c.req;
  const tenant = caller?.tenant ?? DEFAULT_TENANT;
  const isStream = headers.get("content-type") === EVENT_STREAM_TYPE;
  const ms = parts.now() - begun;
  const route = c.get("route") ?? routeOf(c);
  for (const counted of metrics.of(tenant)) {
    if (isStream) void c.env.sent.then(counted.stream());
    counted.request({ method: METHODS.has(method) ? method : "other", route, status, ms });
  }
  // Only the path: a query string may contain what must not be logged.
  parts.log.info("request", {
    requestId,
    address,
    token: caller?.name ?? "",
    method,
    path: path.slice(0, 200),
    status,
    ms,
  });
};

/** The path of the request's route with parameter names; "other" if there is none. */
function routeOf(c: Context<Env>): string {
  // Middleware is for all methods, a route for one.
  const route = matchedRoutes(c).findLast(({ method }) => method !== "ALL");
  if (!route) return "other";
  const named = route.path.replace(/:(\w+)/g, "{$1}");
  c.env.routed(named);
  return named;
}

function requestIdOf(c: Context): string {
  const given = c.req.header("x-request-id") ?? "";
  return /^[\w.-]{1,64}$/.test(given) ? given : newId();
}

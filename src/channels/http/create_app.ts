import { type Context, Hono } from "hono";
import { newId } from "../../domain/kit/id.ts";
import type { Leaving } from "./routing/client_leaving.ts";
import { conditional } from "./response/conditional.ts";
import { approvalRoutes } from "./api/approval_routes.ts";
import { conversationRoutes } from "./api/conversation_routes.ts";
import { Authenticator } from "./request/authenticator.ts";
import { guard } from "./request/guard.ts";
import { healthRoutes } from "./api/health_routes.ts";
import type { HttpParts } from "./routing/http_parts.ts";
import { infoRoutes } from "./api/info_routes.ts";
import { jsonResponse } from "./response/json_response.ts";
import { messageRoutes } from "./api/message_routes.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { metricsRoutes } from "./metrics/metrics_routes.ts";
import { openAiError } from "./openai/error.ts";
import { openAiRoutes } from "./openai/chat_routes.ts";
import { openDocuments } from "./docs/open_documents.ts";
import { pageFile } from "./page_file.ts";
import { Problem, problemOf } from "./response/problem.ts";
import { queryRoutes } from "./api/query_routes.ts";
import { readCall } from "./request/read_call.ts";
import { recordRoutes } from "./api/record_routes.ts";
import { requireScope, scopeOf } from "./request/require_scope.ts";
import { responsesRoutes } from "./openai/responses_routes.ts";
import type { HttpRoute } from "./routing/route.ts";
import type { Runs } from "./stream/runs.ts";
import { SECURE_HEADERS } from "./response/secure_headers.ts";
import type { TokenGrant } from "./auth/token_grant.ts";
import { tokenRoutes } from "./api/token_routes.ts";

export interface AppParts {
  readonly parts: HttpParts;
  readonly runs: Runs;
  readonly metrics: Metrics;
  /** Lower-case host names that the server accepts. */
  readonly hosts: ReadonlySet<string>;
}

/** Where a request came from, and the callback that receives its route. */
export interface HttpConnection {
  /** The peer's address. */
  readonly remote: string;
  readonly routed: (route: string) => void;
  readonly leaving: Leaving;
}

interface Env {
  Bindings: HttpConnection;
  Variables: { requestId: string; caller: TokenGrant; route: string; address: string };
}

/** Other methods would let callers choose labels of metrics. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]);

/** The caller of routes that need no token. */
const ANYONE: TokenGrant = {
  name: "",
  digest: new Uint8Array(),
  scope: "read",
  expiresAt: null,
  quota: { queriesPerDay: null, costUsdPerDay: null, concurrent: null },
};

/** Paths that need no token: they reveal nothing about any conversation. */
const OPEN = /^\/($|assets\/|healthz$|readyz$|openapi\.json$|docs$|docs\/style\.css$|favicon\.ico$)/;

/** Handles everything between a request and its response. Never rejects. */
export function createApp(all: AppParts): (request: Request, from: HttpConnection) => Promise<Response> {
  const { parts, runs, hosts, metrics } = all;
  const app = new Hono<Env>();
  const authenticator = new Authenticator(parts);
  const hooks = new Map(Object.entries(parts.hooks ?? {}));
  app.use(async (c, next) => {
    const begun = parts.now();
    c.set("requestId", requestIdOf(c.req.raw));
    c.set("address", authenticator.address(c.req.raw.headers, c.env.remote));
    c.set("caller", ANYONE);
    await next();
    finish(c, { parts, begun, metrics });
  });
  app.use(async (c, next) => {
    guard(c.req.raw, { limits: parts.limits, hosts });
    const address = c.get("address");
    authenticator.limit(address);
    if (!OPEN.test(c.req.path) && !hooks.has(c.req.path)) {
      c.set("caller", await authenticator.authenticate(c.req.raw.headers, address));
    }
    await next();
  });
  const routes = [...apiRoutes(parts, runs), ...metricsRoutes({ metrics, runs })];
  for (const route of routes) add(app, { route, parts });
  const documents = openDocuments(routes, parts);
  for (const [path, answer] of Object.entries(documents)) {
    app.get(path, (c) => conditional(answer(), c.req.raw.headers));
  }
  for (const [path, answer] of hooks) {
    app.post(path, async (c) => {
      c.set("route", "hook");
      return await answer(c.req.raw);
    });
    app.all(path, () => notAllowed(["POST"]));
  }
  app.get("/", (c) => conditional(pageFile("index.html"), c.req.raw.headers));
  app.get("/assets/:name", (c) => conditional(pageFile(c.req.param("name")), c.req.raw.headers));
  for (const path of [...Object.keys(documents), "/", "/assets/:name"]) app.all(path, () => notAllowed(["GET"]));
  for (const path of new Set(routes.map(({ path }) => path))) {
    const methods = routes.filter((route) => route.path === path).map(({ method }) => method.toUpperCase());
    app.all(honoPath(path), () => notAllowed(methods));
  }
  app.notFound((c) => failed(c, { error: new Problem("Cannot find this path", { kind: "not-found" }), parts }));
  app.onError((error, c) => failed(c, { error, parts }));
  return async (request, from) => await app.fetch(request, from);
}

function apiRoutes(parts: HttpParts, runs: Runs): readonly HttpRoute[] {
  return [
    ...infoRoutes(parts),
    ...tokenRoutes({ parts, runs }),
    ...conversationRoutes({ parts, runs }),
    ...messageRoutes({ parts, runs }),
    ...approvalRoutes({ parts, runs }),
    ...queryRoutes(parts),
    ...recordRoutes({ parts, runs }),
    ...openAiRoutes({ parts, runs }),
    ...responsesRoutes({ parts, runs }),
    ...healthRoutes({ parts, runs }),
  ];
}

function add(app: Hono<Env>, { route, parts }: { readonly route: HttpRoute; readonly parts: HttpParts }): void {
  app.on(route.method.toUpperCase(), honoPath(route.path), async (c) => {
    c.set("route", route.path);
    c.env.routed(route.path);
    const caller = c.get("caller");
    if (caller !== ANYONE) requireScope(scopeOf(route), caller);
    const { leaving } = c.env;
    const facts = { params: c.req.param(), requestId: c.get("requestId"), caller, leaving, limits: parts.limits };
    const response = await route.handle(await readCall(c.req.raw, { route, ...facts }));
    return route.method === "get" ? await conditional(response, c.req.raw.headers) : response;
  });
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

function notAllowed(methods: readonly string[]): never {
  const headers = { allow: methods.join(", ") };
  throw new Problem(`Cannot use this method: allowed are ${methods.join(" and ")}`, {
    kind: "method-not-allowed",
    headers,
  });
}

function requestIdOf(request: Request): string {
  const requested = request.headers.get("x-request-id") ?? "";
  return /^[\w.-]{1,64}$/.test(requested) ? requested : newId();
}

/** Problem details; in OpenAI's format for its clients. */
function failed(
  c: Context<Env>,
  { error, parts }: { readonly error: unknown; readonly parts: HttpParts },
): Response {
  const requestId = c.get("requestId");
  const known = problemOf(error);
  if (known === null) {
    parts.log.error("request_defect", { requestId, stack: error instanceof Error ? error.stack : String(error) });
  }
  const problem = known ??
    new Problem("Cannot answer: an unexpected error occurred; see the log of the server", { kind: "defect" });
  if (c.req.path.startsWith("/v1/")) return openAiError(problem);
  return jsonResponse(problem.details(requestId), {
    status: problem.status,
    headers: { ...problem.facts.headers, "content-type": "application/problem+json; charset=utf-8" },
  });
}

function finish(
  c: Context<Env>,
  { parts, begun, metrics }: Pick<AppParts, "parts" | "metrics"> & { readonly begun: number },
): void {
  const requestId = c.get("requestId");
  for (const [name, value] of Object.entries(SECURE_HEADERS)) c.res.headers.set(name, value);
  c.res.headers.set("x-request-id", requestId);
  // The runtime hides a Content-Length after Transfer-Encoding: what follows on the connection may be no request.
  if (c.req.raw.headers.has("transfer-encoding")) c.res.headers.set("connection", "close");
  const { method, path } = c.req;
  const ms = parts.now() - begun;
  const route = c.get("route") ?? (OPEN.test(path) ? "page" : "other");
  metrics.request({ method: METHODS.has(method) ? method : "other", route, status: c.res.status, ms });
  // Only the path: a query string may contain what must not be logged.
  parts.log.info("request", {
    requestId,
    address: c.get("address"),
    token: c.get("caller").name,
    method,
    path: path.slice(0, 200),
    status: c.res.status,
    ms,
  });
}

import { createHash } from "node:crypto";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { except } from "hono/combine";
import { etag } from "hono/etag";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { matchedRoutes } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import { withPatience } from "../../domain/kit/concurrency.ts";
import { DEFAULT_TENANT, newId } from "../../domain/kit/ids.ts";
import { admission } from "./admission.ts";
import { commands } from "./api/commands.ts";
import { conversations } from "./api/conversations.ts";
import { messages } from "./api/messages.ts";
import { queries } from "./api/queries.ts";
import { metricsRoute, operations, server } from "./api/server.ts";
import { documents } from "./docs/documents.ts";
import type { Env, HttpParts } from "./http_parts.ts";
import { EVENT_STREAM_TYPE } from "./followed_query.ts";
import { openAiErrorBody, openAiHeaders } from "./openai/ask.ts";
import { chat } from "./openai/chat.ts";
import { responses } from "./openai/responses.ts";
import { pageFiles } from "./page/files.ts";
import { Problem, problemOf } from "./problem.ts";

/** A caller can invent methods, so metrics count all other methods as `other`. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]);

const PATIENCE_MS = 4_000;
const CONVERSATION = "/api/v1/conversations/:id";

export function createApp(parts: HttpParts, hosts: ReadonlySet<string>): Hono<Env> {
  const app = new Hono<Env>();
  const { admitted, authenticated } = admission(parts, hosts);
  app.use(requestId({ headerName: "", generator: requestIdOf }), observed, SECURE_HEADERS, admitted);
  app.use(methodNotAllowed({ app, onMethodNotAllowed }), tagged);
  // These routes need no token.
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
  app.use((_, next) => withPatience(PATIENCE_MS, next));
  app.route("/", metricsRoute);
  app.route("/api/v1", server);
  app.route("/api/v1/conversations", conversations);
  app.route(CONVERSATION, messages);
  app.route(CONVERSATION, queries);
  app.route(CONVERSATION, commands);
  app.route("/v1", chat);
  app.route("/v1", responses);
  app.notFound((c) =>
    failed(
      c,
      new Problem(
        `Cannot find path ${
          c.req.path.slice(0, 200)
        }: the server does not have it; GET /docs lists the paths of the API`,
        { kind: "not-found" },
      ),
    )
  );
  app.onError((error, c) => failed(c, error));
  return app;
}

function onMethodNotAllowed(c: Context, methods: readonly string[]): Response {
  const allowed = methods.filter((method) => method !== "HEAD");
  return failed(
    c,
    new Problem(`Cannot use method ${c.req.method}: the path does not have it; use ${allowed.join(" or ")}`, {
      kind: "method-not-allowed",
      headers: { allow: allowed.join(", ") },
    }),
  );
}

function failed(c: Context<Env>, error: unknown): Response {
  const { requestId } = c.var;
  const known = problemOf(error);
  if (known === null) {
    const stack = error instanceof Error ? error.stack : String(error);
    c.env.parts.log.error("request_defect", { requestId, stack });
  }
  const problem = known ??
    new Problem(
      `Cannot answer the request: an unexpected error occurred; the log of the server has it under the id ${requestId}`,
      { kind: "defect" },
    );
  const { status, facts: { headers } } = problem;
  const [body, more] = c.req.path.startsWith("/v1/")
    ? [openAiErrorBody(problem), openAiHeaders(problem)]
    : [problem.details(requestId), { "content-type": "application/problem+json; charset=utf-8" }];
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers, ...more },
  });
}

const observed: MiddlewareHandler<Env> = async (c, next) => {
  const { parts, metrics } = c.env;
  const begun = parts.now();
  await next();
  const { headers, status } = c.res;
  const { requestId, address, caller }: Partial<Env["Variables"]> = c.var;
  headers.set("x-request-id", requestId ?? "");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  // After Transfer-Encoding, the runtime may hide a Content-Length, so the next bytes on the connection may not be a
  // request.
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
  const isRoutine = (method === "GET" || method === "HEAD") && status < 400;
  // The query string may contain secrets, so the log has only the path.
  parts.log[isRoutine ? "debug" : "info"]("request", {
    requestId,
    address,
    token: caller?.name ?? "",
    method,
    path: path.slice(0, 200),
    status,
    ms,
  });
};

function routeOf(c: Context<Env>): string {
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

const NONE = ["'none'"];
const OWN = ["'self'"];

const SECURE_HEADERS: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: NONE,
    scriptSrc: OWN,
    styleSrc: OWN,
    imgSrc: ["'self'", "data:"],
    connectSrc: OWN,
    baseUri: NONE,
    formAction: NONE,
    frameAncestors: NONE,
    requireTrustedTypesFor: ["'script'"],
    trustedTypes: NONE,
  },
  permissionsPolicy: { camera: [], geolocation: [], microphone: [] },
  xFrameOptions: "DENY",
  strictTransportSecurity: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  removePoweredBy: false,
});

const STREAMED = ["/api/v1/conversations/:id/queries/:queryId/events", "/api/v1/conversations/:id/export"];

const DIGEST = {
  generateDigest: (body: Uint8Array) => new Uint8Array(createHash("sha256").update(body).digest()).buffer,
};

const tagged: MiddlewareHandler = except(STREAMED, async (c, next) => {
  await next();
  if (c.req.method !== "HEAD" || c.res.body === null) return;
  c.header("content-length", String((await c.res.clone().arrayBuffer()).byteLength));
}, etag(DIGEST));

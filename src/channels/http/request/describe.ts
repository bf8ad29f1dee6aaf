import type { MiddlewareHandler } from "hono";
import { describeRoute } from "hono-openapi";
import { routePath } from "hono/route";
import { z } from "zod";
import type { TokenScope } from "../auth/token_grant.ts";
import type { Env } from "./env.ts";
import { requireScope } from "./require_scope.ts";

type Json = Readonly<Record<string, unknown>>;

interface Described {
  /** Also the name of its part of the documentation. */
  readonly tag: string;
  readonly summary: string;
  /** The scope that the token needs, `read` if omitted; null for routes that need no token. */
  readonly scope?: TokenScope | null;
  /** Names of request headers and their effects. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly responses: Readonly<Record<number, Json>>;
  /** Statuses of errors that a client of this route should expect, besides those of every route. */
  readonly errors?: readonly (keyof typeof ERRORS)[];
}

const ERRORS = {
  409: "A query is running in the conversation, or what is to be changed has changed",
  412: "The conversation does not match If-Match",
  422: "The idempotency key was used with another body",
  429: "Too many requests, or the quota of the token is exhausted; Retry-After says when to try again",
};
const EVENTS = {
  $ref: "#/components/schemas/QueryEvent",
  description: "Server-sent events: the name of each is the type of a QueryEvent, its data the QueryEvent as JSON",
};
const OPENAI_EVENTS = { type: "string", description: "Server-sent events, as in OpenAI's API" };

/** Describes a route, and lets only tokens of its scope use it. */
export function describe(operationId: string, described: Described): MiddlewareHandler<Env> {
  const { tag, summary, scope = "read", headers = {}, responses, errors = [] } = described;
  const enter: MiddlewareHandler<Env> = async (c, next) => {
    const route = routePath(c).replace(/:(\w+)/g, "{$1}");
    c.set("route", route);
    c.env.routed(route);
    if (scope !== null) requireScope(scope, c.var.caller);
    await next();
  };
  const content = tag === "openai"
    ? { "application/json": { schema: { $ref: "#/components/schemas/OpenAiError" } } }
    : { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };
  const refused = [...errors, 429 as const].map((status) => {
    return [status, { description: ERRORS[status], content }];
  });
  const specification = describeRoute({
    ...{ operationId, summary, tags: [tag] },
    description: scope === null ? "Needs no token." : `Needs a token with the scope ${scope}, or a wider one.`,
    ...(scope === null ? { security: [] } : { "x-vis-scope": scope }),
    parameters: Object.entries(headers).map(([name, description]) => {
      return { name, in: "header", required: false, description, schema: { type: "string" } };
    }),
    responses: { ...responses, ...Object.fromEntries(refused), default: { description: "Error", content } },
  });
  return Object.assign(enter, specification);
}

/** A response with content: JSON, or the media types named. */
export function content(description: string, about: z.ZodType | readonly string[]): Json {
  if (!("length" in about)) {
    return { description, content: { "application/json": { schema: schemaFor(about, "output") } } };
  }
  return { description, content: Object.fromEntries(about.map((type) => [type, { schema: {} }])) };
}

/** A response that is a stream of events, of a query or in OpenAI's format, or that content if the client does not ask
 * for a stream. */
export function events(
  description: string,
  { schema, openai = false }: { readonly schema?: z.ZodType; readonly openai?: boolean } = {},
): Json {
  const stream = { "text/event-stream": { schema: openai ? OPENAI_EVENTS : EVENTS } };
  return { description, content: { ...(schema ? Object(content(description, schema)).content : {}), ...stream } };
}

/** A schema as hono-openapi takes it, converted when the document is asked for. */
export function schemaFor(
  schema: z.ZodType,
  io: "input" | "output",
): { readonly toOpenAPISchema: () => Promise<{ readonly schema: Json }> } {
  return { toOpenAPISchema: () => Promise.resolve({ schema: schemaOf(schema, io) }) };
}

/** OpenAPI 3.1 uses JSON Schema 2020-12 unchanged. */
export function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    ...{ io, unrepresentable: "any" },
    override: ({ jsonSchema }) => {
      // Bounds that every double satisfies say nothing, and responses may gain fields.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (io === "output" && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
    },
  });
  return rest;
}

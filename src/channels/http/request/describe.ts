import type { MiddlewareHandler } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import type { TokenScope } from "../auth/token_grant.ts";
import { Problem } from "../response/problem.ts";
import type { Env } from "./env.ts";

type Json = Readonly<Record<string, unknown>>;

/** Media types, or a schema of JSON. */
type Content = string | z.ZodType;

interface Described {
  /** The scope that the token needs, `read` if omitted; null for routes that need no token. */
  readonly scope?: TokenScope | null;
  /** Names of request headers and their effects. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Statuses of errors that a client of this route should expect, besides those of every route. */
  readonly errors?: readonly (keyof typeof ERRORS)[];
  /** What a successful request is answered with, by status; several if the client chooses. */
  readonly [status: number]: Content | readonly Content[];
}

const SUCCESS: Readonly<Record<string, string>> = {
  200: "Success",
  201: "It was created",
  202: "The running query received the message",
  204: "It was deleted, or the client already has everything",
};
const ERRORS = {
  409: "A query is running in the conversation, or what is to be changed has changed",
  412: "The conversation does not match If-Match",
  422: "The idempotency key was used with another body",
  429: "Too many requests, or the quota of the token is exhausted; Retry-After says when to try again",
};
/** From the narrowest. */
const SCOPES: readonly TokenScope[] = ["read", "write", "admin"];
/** As the media type of an answer. */
export const EVENT_STREAM = "text/event-stream";
const EVENTS = {
  $ref: "#/components/schemas/QueryEvent",
  description:
    "If Accept names text/event-stream, server-sent events: the name of each is the type of a QueryEvent, its data the QueryEvent as JSON",
};
const OPENAI_EVENTS = { type: "string", description: "With stream, server-sent events as in OpenAI's API" };

/** Describes the routes of a topic, which `tag` names, and lets only tokens of their scope use them. */
export function describeIn(
  tag: string,
): (operationId: string, summary: string, about: Described) => MiddlewareHandler<Env> {
  const [type, name] = tag === "openai" ? ["application/json", "OpenAiError"] : ["application/problem+json", "Problem"];
  const failed = { [type]: { schema: { $ref: `#/components/schemas/${name}` } } };
  const events = tag === "openai" ? OPENAI_EVENTS : EVENTS;
  return (operationId, summary, { scope = "read", headers = {}, errors = [], ...answers }) => {
    const enter: MiddlewareHandler<Env> = async (c, next) => {
      if (scope !== null && SCOPES.indexOf(c.var.caller.scope) < SCOPES.indexOf(scope)) {
        throw new Problem(`Cannot do this with a token of scope ${c.var.caller.scope}: scope ${scope} is required`, {
          kind: "insufficient-scope",
          headers: { "www-authenticate": `Bearer realm="vis", error="insufficient_scope", scope="${scope}"` },
        });
      }
      await next();
    };
    const answered = Object.entries<Described[number]>(answers).map(([status, content]) => [status, {
      description: SUCCESS[status],
      content: Object.fromEntries([content].flat().map((one) => mediaOf(one, events))),
    }]);
    const refused = [...errors, 429 as const].map((status) => [status, {
      description: ERRORS[status],
      content: failed,
    }]);
    const specification = describeRoute({
      ...{ operationId, summary, tags: [tag] },
      description: scope === null ? "Needs no token." : `Needs a token with the scope ${scope}, or a wider one.`,
      ...(scope === null ? { security: [] } : { "x-vis-scope": scope }),
      parameters: Object.entries(headers).map(([name, description]) => {
        return { name, in: "header", required: false, description, schema: { type: "string" } };
      }),
      responses: Object.fromEntries([...answered, ...refused, ["default", { description: "Error", content: failed }]]),
    });
    return Object.assign(enter, specification);
  };
}

function mediaOf(content: Content, events: Json): readonly [string, Json] {
  if (typeof content !== "string") return ["application/json", { schema: schemaFor(content, "output") }];
  return [content, { schema: content === EVENT_STREAM ? events : {} }];
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

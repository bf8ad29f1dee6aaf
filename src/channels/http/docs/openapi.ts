import { z } from "zod";
import { QueryEventSchema } from "../../schemas/query_event_schema.ts";
import { scopeOf } from "../request/require_scope.ts";
import type { DescribedResponse, HttpRoute } from "../routing/route.ts";
import { ProblemSchema } from "../api/schemas.ts";

type Json = Readonly<Record<string, unknown>>;

const EVENTS = "Server-sent events: the event name is the type of a QueryEvent, the data is the QueryEvent as JSON";
/** OpenAI's error object. */
const OPENAI_ERROR = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});

/** The OpenAPI 3.1 document for the routes. */
export function openApi(routes: readonly HttpRoute[], { version }: { readonly version: string }): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method] = operation(route);
  return {
    openapi: "3.1.0",
    info: {
      title: "Vis",
      version,
      description: "Conversations with an agent whose model writes code. Errors are problem details (RFC 9457).",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: { token: { type: "http", scheme: "bearer" } },
      schemas: {
        Problem: schemaOf(ProblemSchema, "output"),
        OpenAiError: schemaOf(OPENAI_ERROR, "output"),
        QueryEvent: schemaOf(QueryEventSchema, "output"),
      },
    },
  };
}

function operation(route: HttpRoute): Json {
  const { operation: operationId, summary, tag, body, answers } = route;
  const isOpen = tag === "operations";
  return {
    operationId,
    summary,
    tags: [tag],
    ...(isOpen ? { security: [] } : { "x-vis-scope": scopeOf(route) }),
    parameters: parameters(route),
    ...(body
      ? { requestBody: { required: true, content: { "application/json": { schema: schemaOf(body, "input") } } } }
      : {}),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, response(answer)])),
      default: { description: "Error", content: errorOf(route) },
    },
  };
}

function errorOf({ path }: HttpRoute): Json {
  return path.startsWith("/v1/")
    ? { "application/json": { schema: { $ref: "#/components/schemas/OpenAiError" } } }
    : { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } };
}

function parameters({ path, query, headers = {} }: HttpRoute): readonly Json[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: "path", required: true, schema: { type: "string" } };
  });
  const inQuery = query ? queryParameters(schemaOf(query, "input")) : [];
  const inHeader = Object.entries(headers).map(([name, description]) => {
    return { name, in: "header", required: false, description, schema: { type: "string" } };
  });
  return [...inPath, ...inQuery, ...inHeader];
}

function queryParameters({ properties, required }: Json): readonly Json[] {
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties ?? {}).map(([name, schema]) => {
    return { name, in: "query", required: needed.includes(name), schema };
  });
}

function response({ description, schema, stream, types = ["application/json"] }: DescribedResponse): Json {
  const content = {
    ...(schema ? Object.fromEntries(types.map((type) => [type, { schema: schemaOf(schema, "output") }])) : {}),
    ...(stream ? { "text/event-stream": { schema: { type: "string", description: EVENTS } } } : {}),
  };
  return { description, ...(Object.keys(content).length > 0 ? { content } : {}) };
}

/** OpenAPI 3.1 uses JSON Schema 2020-12 unchanged. */
function schemaOf(schema: z.ZodType, io: "input" | "output"): Json {
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

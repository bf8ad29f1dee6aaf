import type { Hono } from "hono";
import { generateSpecs } from "hono-openapi";
import { z } from "zod";
import { QueryEventSchema } from "../../../domain/query/query_schemas.ts";
import { ProblemSchema } from "../api/schemas.ts";
import { schemaOf } from "../request/describe.ts";
import type { Env } from "../request/env.ts";

/** OpenAI's error object. */
const OPENAI_ERROR = z.object({
  error: z.object({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    code: z.string().nullable(),
  }),
});

const TAGS = {
  server: "The server, its models, extensions and tokens",
  conversations: "Conversations and their branches",
  messages: "Requests, their events, and the questions that extensions ask meanwhile",
  queries: "The steps of a query",
  variables: "The variables of a branch and their versions",
  openai: "The API of OpenAI, with the agent as a model",
  operations: "Health checks",
};

/** Reads whose responses have no ETag: a stream and a download. */
const UNTAGGED: ReadonlySet<string | undefined> = new Set(["followQuery", "exportConversation"]);

/** The OpenAPI 3.1 document for the routes of an app. */
export async function openApi(app: Hono<Env>, { version }: { readonly version: string }): Promise<object> {
  const document = await generateSpecs(app, {
    defaultValidationErrorResponse: false,
    excludeStaticFile: false,
    documentation: {
      openapi: "3.1.0",
      info: {
        title: "Vis",
        version,
        description: "Conversations with an agent whose model writes code. Errors are problem details (RFC 9457).",
        contact: { name: "Vis" },
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: "/" }],
      security: [{ token: [] }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: { token: { type: "http", scheme: "bearer" } },
        schemas: {
          Problem: schemaOf(ProblemSchema, "output"),
          OpenAiError: schemaOf(OPENAI_ERROR, "output"),
          QueryEvent: schemaOf(QueryEventSchema, "output"),
        },
      },
    },
  });
  const reads = Object.values(document.paths).flatMap((path) => path?.get ?? []);
  for (const { operationId, responses } of reads) {
    if (responses && !UNTAGGED.has(operationId)) {
      responses[304] = { description: "What If-None-Match names is current" };
    }
  }
  return document;
}

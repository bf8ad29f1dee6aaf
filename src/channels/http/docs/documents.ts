import { Hono } from "hono";
import { generateSpecs } from "hono-openapi";
import { html } from "hono/html";
import { z } from "zod";
import { QueryEventSchema } from "../../../domain/query/query_schemas.ts";
import { ProblemSchema } from "../api/schemas.ts";
import type { Env } from "../http_parts.ts";
import { schemaOf } from "../route.ts";
import style from "./style.css" with { type: "text" };

export function documents(app: Hono<Env>, about: { readonly version: string }): Hono<Env> {
  const made: { document?: Promise<object> } = {};
  const document = (): Promise<object> => made.document ??= openApi(app, about);
  return new Hono<Env>()
    .get("/openapi.json", async (c) => c.json(await document(), 200, { "cache-control": "no-cache" }))
    .get("/docs", async (c) => {
      const page = referencePage(await document());
      return c.body(page, 200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-cache" });
    })
    .get("/docs/style.css", (c) => {
      return c.body(style, 200, { "content-type": "text/css; charset=utf-8", "cache-control": "no-cache" });
    });
}

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
  messages: "Requests, their events, and their questions to the user",
  queries: "The steps of a query",
  variables: "The variables of a branch and their versions",
  commands: "Commands that run in the background",
  openai: "The API of OpenAI, with the agent as a model",
  operations: "Health checks",
};

const UNTAGGED: ReadonlySet<string | undefined> = new Set(["followQuery", "exportConversation"]);

async function openApi(app: Hono<Env>, { version }: { readonly version: string }): Promise<object> {
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
      responses[304] = { description: "The version of If-None-Match is current" };
    }
  }
  return document;
}

const Parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).default({}),
});

const Content = z.record(z.string(), z.object({ schema: z.unknown() }));

const Operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  tags: z.array(z.string()),
  parameters: z.array(Parameter),
  requestBody: z.object({ content: Content }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: Content.optional() })),
  "x-vis-scope": z.string().optional(),
});

const Document = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
});

type Markup = ReturnType<typeof html>;
type Place = z.infer<typeof Operation> & { readonly path: string; readonly method: string };

export function referencePage(document: unknown): string {
  const { info, paths } = Document.parse(document);
  const places = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }))
  );
  const tags = [...new Set(places.flatMap(({ tags }) => tags))];
  const inTag = (tag: string): readonly Place[] => places.filter((place) => place.tags.includes(tag));
  return String(html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>${info.title} API ${info.version}</title>
        <link rel="icon" href="/assets/icon.svg">
        <link rel="stylesheet" href="/assets/base.css">
        <link rel="stylesheet" href="/docs/style.css">
      </head>
      <body>
        <a class="skip" href="#calls">Skip to the calls</a>
        <header>
          <h1>${info.title} API <small>${info.version}</small></h1>
          <p>${info.description} Every call except those under “operations” needs the header
    <code>Authorization: Bearer TOKEN</code>. Of the scopes of a token, admin includes write, and write includes read.
    The same description as data: <a href="/openapi.json">openapi.json</a>.</p>
        </header>
        <nav aria-label="Calls">
          <ul>${places.map(link)}</ul>
        </nav>
        <main id="calls">${tags.map((tag) => html`<section><h2>${tag}</h2>${inTag(tag).map(article)}</section>`)}</main>
      </body>
    </html>
  `);
}

function link({ operationId, method, path }: Place): Markup {
  const parts = path.split(/(?<=.)(?=\/)/).map((part) => html`${part}<wbr>`);
  return html`
    <li><a href="#${operationId}"><span class="method">${method}</span> <code>${parts}</code></a></li>
  `;
}

function article(place: Place): Markup {
  const { operationId, method, path, summary, parameters, requestBody, responses, "x-vis-scope": scope } = place;
  return html`
    <article id="${operationId}" aria-labelledby="name-${operationId}">
    <span class="scope">${scope ?? "no token"}</span>
    <h3 id="name-${operationId}"><span class="method">${method}</span> <code>${path}</code></h3>
    <p>${summary}</p>
    ${parameters.map(parameter)}
    ${requestBody ? schemas("Body", requestBody.content) : ""}
    ${Object.entries(responses).map(([status, { description, content }]) =>
      html`<p><code>${status}</code> ${description}</p>${content ? schemas("Schema", content) : ""}`
    )}
    </article>
  `;
}

function parameter({ name, in: place, required, description, schema }: z.infer<typeof Parameter>): Markup {
  return html`
    <p>
      <code>${name}</code> in ${place}${required ? "" : ", optional"}<br>
      ${description ?? ""} <code>${JSON.stringify(schema)}</code>
    </p>
  `;
}

function schemas(label: string, content: z.infer<typeof Content>): Markup {
  return html`${
    Object.entries(content).map(([type, { schema }]) =>
      html`
        <details>
          <summary>${label}: ${type}</summary>
          <pre tabindex="0">${JSON.stringify(schema, null, 2)}</pre>
        </details>
      `
    )
  }`;
}

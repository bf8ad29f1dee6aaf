import { html } from "hono/html";
import { z } from "zod";

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

/** The parts of an OpenAPI document that the page uses. */
const Document = z.object({
  info: z.object({ title: z.string(), version: z.string(), description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
});

type Markup = ReturnType<typeof html>;
type Place = z.infer<typeof Operation> & { readonly path: string; readonly method: string };

/** An HTML page about every call of an OpenAPI document. It has no scripts and loads only the server's own style. */
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

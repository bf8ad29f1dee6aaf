import assert from "node:assert/strict";
import { validate } from "@hyperjump/json-schema/openapi-3-1";
import { z } from "zod";
import * as schema from "../../../../src/channels/http/api/schemas.ts";
import { startRig } from "../_rig.ts";
import { referencePage } from "../../../../src/channels/http/docs/documents.ts";
import { ResponseSchema } from "../../../../src/channels/http/openai/responses.ts";
import { SearchHitSchema } from "../../../../src/channels/search_hit_schema.ts";
import { replyJson } from "../../../helpers/scripted_provider.ts";

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly security?: readonly unknown[];
  readonly requestBody?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

Deno.test("openApi() describes every route that answers, once, with its parameters and its errors", async () => {
  await using rig = await startRig([]);
  const document = await (await rig.ask("/openapi.json")).json();
  assert.equal(document.openapi, "3.1.0");
  const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation }))
  );
  assert.ok(operations.length >= 20);
  const ids = operations.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  for (const { path, method, parameters, responses, summary, description, requestBody } of operations) {
    const named = parameters.filter((one) => one.in === "path").map(({ name }) => name);
    assert.deepEqual(named, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name), path);
    assert.ok(summary.length > 5 && "default" in responses && "429" in responses, path);
    assert.match(
      description,
      /^Needs (?:no token|a token with the scope (?:read, write or admin|write or admin|admin))\.$/,
    );
    if (["get", "delete"].includes(method)) assert.equal(requestBody, undefined);
    const response = await rig.ask(path.replace(/\{\w+\}/g, "01234567-none"), { method: method.toUpperCase() });
    assert.notEqual(response.status, 405, `${method} ${path}`);
    assert.ok(response.status < 500, `${method} ${path}`);
    await response.body?.cancel();
  }
});

Deno.test("openApi() resolves every reference and marks open routes", async () => {
  await using rig = await startRig([]);
  const text = await (await rig.ask("/openapi.json")).text();
  const document = JSON.parse(text);
  for (const [, name = ""] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)) {
    assert.ok(name in document.components.schemas, name);
  }
  for (const name of Object.keys(document.components.schemas)) {
    assert.ok(text.includes(`"$ref":"#/components/schemas/${name}"`), `${name} is used`);
  }
  assert.ok(!/"\$ref":"#\/(?!components)/.test(text), "no reference into a schema of its own");
  assert.deepEqual(document.paths["/healthz"].get.security, []);
  assert.equal(document.paths["/api/v1"].get.security, undefined);
});

Deno.test("createApp() names the methods that a place has", async () => {
  await using rig = await startRig([]);
  const response = await rig.ask("/api/v1/conversations", { method: "PUT" });
  assert.deepEqual([response.status, response.headers.get("allow")], [405, "GET, POST"]);
  assert.equal((await response.json()).type, "urn:vis:problem:method-not-allowed");
});

Deno.test("createApp() refuses other methods of open paths without a token, and asks for one everywhere else", async () => {
  await using rig = await startRig([]);
  const open = [
    "/",
    "/favicon.ico",
    "/assets/app.js",
    "/healthz",
    "/readyz",
    "/openapi.json",
    "/docs",
    "/docs/style.css",
  ];
  for (const path of open) {
    const response = await fetch(new URL(path, rig.url), { method: "POST" });
    assert.deepEqual([response.status, response.headers.get("allow")], [405, "GET"], path);
    await response.body?.cancel();
  }
  for (const path of ["/metrics", "/api/v1", "/api/v1/conversations", "/v1/models", "/nowhere", "/healthz/more"]) {
    for (const method of ["GET", "PUT"]) {
      const response = await fetch(new URL(path, rig.url), { method });
      assert.equal(response.status, 401, `${method} ${path}`);
      await response.body?.cancel();
    }
  }
});

Deno.test("openApi() every answer of a conversation's calls fits its description", async () => {
  await using rig = await startRig([
    replyJson("let kept = [1]"),
    replyJson([], { final: "one" }),
    replyJson([], { final: "two" }),
  ]);
  const id = await rig.conversation();
  const at = `/api/v1/conversations/${id}`;
  const { queryId } = await (await rig.post(`${at}/messages`, { request: "x" })).json();
  const made = await (await rig.post("/v1/responses", { input: "x" })).json();
  const fits = (schema: z.ZodType, value: unknown): void => {
    const { error } = schema.safeParse(value);
    assert.equal(error, undefined, error && z.prettifyError(error));
  };
  fits(ResponseSchema, made);
  const read = async (path: string): Promise<unknown> => await (await rig.ask(path)).json();
  const items = (item: z.ZodType): z.ZodType => z.object({ items: z.array(item).min(1) });
  fits(ResponseSchema, await read(`/v1/responses/${made.id}`));
  fits(schema.ConversationListSchema, await read("/api/v1/conversations"));
  fits(schema.ConversationDetailSchema, await read(at));
  fits(items(schema.QuerySchema), await read(`${at}/queries`));
  fits(items(schema.IterationSchema), await read(`${at}/queries/${queryId}/iterations`));
  fits(schema.MessagesSchema, await read(`${at}/queries/${queryId}/iterations/1/messages`));
  fits(items(schema.VariableSchema), await read(`${at}/variables`));
  fits(items(schema.VersionSchema), await read(`${at}/variables/kept`));
  fits(schema.GraphSchema, await read(`${at}/graph`));
  fits(items(SearchHitSchema), await read("/api/v1/search?q=kept"));
  fits(schema.ExtensionListSchema, await read("/api/v1/extensions"));
  fits(schema.TokenListSchema, await read("/api/v1/tokens"));
  fits(schema.ProblemSchema, await read("/api/v1/nothing"));
});

const SPEC = "https://spec.openapis.org/oas/3.1/schema-base";

Deno.test("openApi() is valid by the schema that OpenAPI 3.1 publishes, its JSON Schemas included", async () => {
  await using rig = await startRig([]);
  const document = await (await rig.ask("/openapi.json")).json();
  const check = await validate(SPEC);
  assert.deepEqual(check(document, "BASIC"), { valid: true });
  const broken = structuredClone(document);
  broken.paths["/api/v1"].get.responses = { 200: { description: 7 } };
  assert.equal(check(broken, "FLAG").valid, false, "the check can fail");
});

Deno.test("referencePage() has every call of the document with its scope, and needs no token, script or other server", async () => {
  await using rig = await startRig([]);
  const response = await rig.ask("/docs", { headers: { authorization: "" } });
  assert.deepEqual([response.status, response.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  assert.match(response.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  const page = await response.text();
  const { paths } = await (await rig.ask("/openapi.json")).json();
  for (
    const [path, methods] of Object.entries<Record<string, { operationId: string; "x-vis-scope"?: string }>>(paths)
  ) {
    for (const [method, { operationId, "x-vis-scope": scope }] of Object.entries(methods)) {
      const start = page.indexOf(`<article id="${operationId}"`);
      assert.ok(start > 0, operationId);
      const article = page.slice(start, page.indexOf("</article>", start));
      assert.ok(article.includes(`<span class="method">${method.toUpperCase()}</span> <code>${path}</code>`), path);
      assert.ok(article.includes(`<span class="scope">${scope ?? "no token"}</span>`), path);
      assert.ok(page.includes(`href="#${operationId}"`));
    }
  }
  assert.doesNotMatch(page, /<script|<style|\son\w+=|\sstyle=|https?:\/\/(?!127)|javascript:/i);
  const css = await rig.ask("/docs/style.css", { headers: { authorization: "" } });
  assert.deepEqual([css.status, css.headers.get("content-type")], [200, "text/css; charset=utf-8"]);
  assert.doesNotMatch(await css.text(), /url\(|@import/);
  const again = await rig.ask("/docs", { headers: { "if-none-match": response.headers.get("etag") ?? "" } });
  assert.equal(again.status, 304);
  assert.equal((await rig.ask("/docs", { method: "POST" })).status, 405);
  assert.equal((await rig.ask("/docs/../docs/x")).status, 404);
});

Deno.test("referencePage() a description cannot become markup", () => {
  const operation = {
    operationId: `x"><u>`,
    summary: "<img src=x onerror=alert(1)>",
    tags: ["<b>"],
    parameters: [{ name: "<i>", in: "query", schema: { pattern: "</code><u>" } }],
    responses: { 200: { description: "<s>", content: { "<em>": { schema: { x: "</pre><u>" } } } } },
  };
  const info = { title: "<h1>", version: "1", description: "<h1>" };
  const page = referencePage({ info, paths: { "/<p>": { get: operation } } });
  assert.doesNotMatch(page, /<(img|b|i|u|s|em)[\s>]|<p><\/code>|<h1><h1>/);
});

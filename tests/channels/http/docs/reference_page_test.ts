import assert from "node:assert/strict";
import { startRig } from "../_rig.ts";
import { referencePage } from "../../../../src/channels/http/docs/documents.ts";

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

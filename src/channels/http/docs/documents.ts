import { Hono } from "hono";
import type { Env } from "../request/env.ts";
import { openApi } from "./openapi.ts";
import { referencePage } from "./reference_page.ts";
import style from "./style.css" with { type: "text" };

/** Documents that describe the routes of an app: the OpenAPI document, and the page made from it. */
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

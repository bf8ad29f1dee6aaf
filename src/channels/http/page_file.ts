import { Hono } from "hono";
import { getMimeType } from "hono/utils/mime";
import { PAGE_FILES } from "./page/files.ts";
import type { Env } from "./request/env.ts";
import { Problem } from "./response/problem.ts";

/** The web page, from within the program: no request path reaches a disk. */
export const pageFiles = new Hono<Env>()
  .get("/", () => pageFile("index.html"))
  .get("/favicon.ico", () => pageFile("favicon.ico"))
  .get("/assets/:name", (c) => pageFile(c.req.param("name")));

function pageFile(name: string): Response {
  const text = Object.hasOwn(PAGE_FILES, name) ? PAGE_FILES[name] : undefined;
  if (text === undefined) throw new Problem("Cannot find this file", { kind: "not-found" });
  // Clients ask each time whether it has changed.
  return new Response(text, { headers: { "content-type": getMimeType(name) ?? "", "cache-control": "no-cache" } });
}

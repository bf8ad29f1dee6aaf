import { zstdDecompressSync } from "node:zlib";
import { Hono } from "hono";
import { getMimeType } from "hono/utils/mime";
import type { Env } from "../http_parts.ts";
import { Problem } from "../problem.ts";
import index from "./index.html" with { type: "text" };
import baseStyle from "./style/base.css" with { type: "text" };
import frameStyle from "./style/frame.css" with { type: "text" };
import icon from "./style/icon.svg" with { type: "text" };
import printStyle from "./style/print.css" with { type: "text" };
import threadStyle from "./style/thread.css" with { type: "text" };
import viewerStyle from "./style/viewer.css" with { type: "text" };

export const pageFiles = new Hono<Env>()
  .get("/", () => pageFile("index.html"))
  .get("/favicon.ico", () => pageFile("favicon.ico"))
  .get("/assets/:name", (c) => pageFile(c.req.param("name")));

function pageFile(name: string): Response {
  const text = Object.hasOwn(PAGE_FILES, name) ? PAGE_FILES[name] : undefined;
  if (text === undefined) {
    throw new Problem(`Cannot find file ${name.slice(0, 100)}: the page has no such file; load the page again`, {
      kind: "not-found",
    });
  }
  return new Response(text, { headers: { "content-type": getMimeType(name) ?? "", "cache-control": "no-cache" } });
}

/** The executable, the program from source and the bundle keep the scripts in different folders. */
const FOLDERS = ["./page/", "../../../../build/page/", "../page/"];

const SCRIPT = /\.js(?:\.zst)?$/;

function scriptText(file: URL): string {
  const bytes = Deno.readFileSync(file);
  return new TextDecoder().decode(file.pathname.endsWith(".zst") ? zstdDecompressSync(bytes) : bytes);
}

function builtScripts(): Readonly<Record<string, string>> {
  for (const path of FOLDERS) {
    const folder = new URL(path, import.meta.url);
    try {
      const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => SCRIPT.test(name)).sort();
      const scripts = names.map((name) => [name.replace(SCRIPT, ".js"), scriptText(new URL(name, folder))] as const);
      if (scripts.some(([name]) => name === "app.js")) return Object.fromEntries(scripts);
    } catch { /* The folder is not there, so the server tries the next one. */ }
  }
  throw new Error("Cannot serve the page: its scripts are missing; run bin/deno task build");
}

function withPreloads(html: string, app: string): string {
  const needed = [...app.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(([, name]) => name);
  const links = needed.map((name) => `    <link rel="modulepreload" href="/assets/${name}">\n`);
  return html.replace(/(?= *<script )/, links.join(""));
}

function compact(style: string): string {
  return style.replace(/\/\*[^]*?\*\/\n?/g, "").replace(/;?\s*([{};>])\s*/g, "$1").replace(/([:,])\s+/g, "$1");
}

const scripts = builtScripts();

export const PAGE_FILES: Readonly<Record<string, string>> = {
  ...scripts,
  "base.css": compact(baseStyle),
  "frame.css": compact(frameStyle),
  "icon.svg": icon,
  "index.html": withPreloads(index, scripts["app.js"] ?? ""),
  "print.css": compact(printStyle),
  "thread.css": compact(threadStyle),
  "viewer.css": compact(viewerStyle),
};

import { entityTag, namesTag } from "./entity_tag.ts";
import { Problem } from "./problem.ts";
import { PAGE_FILES } from "./page/files.ts";

interface PageFile {
  readonly text: string;
  readonly type: string;
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

const FILES: ReadonlyMap<string, PageFile> = new Map(
  Object.entries(PAGE_FILES).map(([name, text]) => [name, {
    text,
    type: TYPES[name.split(".").at(-1) ?? ""] ?? "text/plain; charset=utf-8",
    etag: entityTag(text),
  }]),
);

/** A file of the page, out of the program itself: no path of a request reaches a disk. Throws `Problem` (404). */
export function pageFile(name: string, request: Request): Response {
  const file = FILES.get(name);
  if (!file) throw new Problem("Cannot find this file of the page", { kind: "not-found" });
  const headers = { "content-type": file.type, "cache-control": "no-cache", etag: file.etag };
  if (namesTag(request.headers.get("if-none-match") ?? "", file.etag, { weak: true })) {
    return new Response(null, { status: 304, headers });
  }
  return new Response(file.text, { headers });
}

import { PAGE_FILES } from "./page/files.ts";
import { fileResponse } from "./response/json_response.ts";
import { Problem } from "./response/problem.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** Serves a file of the page from within the program: no request path reaches a disk. Throws `Problem` (404). */
export function pageFile(name: string): Response {
  const text = Object.hasOwn(PAGE_FILES, name) ? PAGE_FILES[name] : undefined;
  if (text === undefined) throw new Problem("Cannot find this file", { kind: "not-found" });
  return fileResponse(text, TYPES[name.split(".").at(-1) ?? ""] ?? "text/plain; charset=utf-8");
}

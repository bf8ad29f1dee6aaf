import { PAGE_FILES } from "./page/files.ts";
import { Problem } from "./response/problem.ts";
import { StaticText } from "./response/static_text.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

const FILES: ReadonlyMap<string, StaticText> = new Map(
  Object.entries(PAGE_FILES).map(([name, text]) => {
    return [name, new StaticText(text, TYPES[name.split(".").at(-1) ?? ""] ?? "text/plain; charset=utf-8")];
  }),
);

/** Serves a file of the page from within the program: no request path reaches a disk. Throws `Problem` (404). */
export function pageFile(name: string, request: Request): Response {
  const file = FILES.get(name);
  if (!file) throw new Problem("Cannot find this file", { kind: "not-found" });
  return file.answer(request);
}

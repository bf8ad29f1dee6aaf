import { openApi } from "./openapi.ts";
import { referencePage } from "./reference_page.ts";
import style from "./style.css" with { type: "text" };
import type { HttpRoute } from "../routing/route.ts";
import { StaticText } from "../response/static_text.ts";

/** Documents that describe the API, by path: the OpenAPI document and the page generated from it on first request. */
export function openDocuments(
  routes: readonly HttpRoute[],
  { version }: { readonly version: string },
): Readonly<Record<string, (request: Request) => Response>> {
  const document = openApi(routes, { version });
  const json = new StaticText(JSON.stringify(document), "application/json; charset=utf-8");
  const css = new StaticText(style, "text/css; charset=utf-8");
  let page: StaticText | null = null;
  return {
    "/openapi.json": (request) => json.answer(request),
    "/docs": (request) =>
      (page ??= new StaticText(referencePage(document), "text/html; charset=utf-8")).answer(request),
    "/docs/style.css": (request) => css.answer(request),
  };
}

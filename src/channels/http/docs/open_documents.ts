import { openApi } from "./openapi.ts";
import { referencePage } from "./reference_page.ts";
import style from "./style.css" with { type: "text" };
import type { HttpRoute } from "../routing/route.ts";
import { fileResponse } from "../response/json_response.ts";

/** Documents that describe the API, by path: the OpenAPI document and the page generated from it on first request. */
export function openDocuments(
  routes: readonly HttpRoute[],
  { version }: { readonly version: string },
): Readonly<Record<string, () => Response>> {
  const document = openApi(routes, { version });
  const json = JSON.stringify(document);
  let page: string | null = null;
  return {
    "/openapi.json": () => fileResponse(json, "application/json; charset=utf-8"),
    "/docs": () => fileResponse(page ??= referencePage(document), "text/html; charset=utf-8"),
    "/docs/style.css": () => fileResponse(style, "text/css; charset=utf-8"),
  };
}

import type { EnvironmentView } from "@vis/extension";
import { bodyText, isHtml, markedCharset } from "./body_data.ts";
import type { Outside } from "./outside.ts";
import type { PageText } from "./page_markdown.ts";
import { facts, fetchPage, type WebCallOptions } from "./web_call.ts";

const MAX_CHARS = 400_000, PAGE_BYTES = 4 << 20;

/** The result of `web.readable`: a page as Markdown; other text unchanged. */
export async function readablePage(
  env: EnvironmentView,
  address: string,
  options: Omit<WebCallOptions, "as"> & { readonly outside?: Outside } = {},
): Promise<PageText & { readonly status: number; readonly url: string }> {
  const fetched = await fetchPage(env, address, { maxBytes: PAGE_BYTES, ...options, method: "GET" });
  const { status, url } = facts(fetched);
  const type = fetched.headers.get("content-type") ?? "";
  const name = type.split(";")[0]?.trim() ?? "";
  const isText = /charset/i.test(type) || markedCharset(fetched.bytes) !== undefined;
  if (!isText && fetched.bytes.subarray(0, 8000).includes(0)) {
    throw new Error(`Cannot read ${url}: it is ${name || "no text"}; web.get gives its bytes`);
  }
  const text = bodyText(fetched.bytes, type);
  if (!isHtml(type) && !/^\s*<(?:!doctype html|html)[\s>]/i.test(text.slice(0, 1_000))) {
    const truncated = fetched.truncated || text.length > MAX_CHARS;
    return { status, url, title: "", text: text.slice(0, MAX_CHARS), links: [], truncated };
  }
  const { pageMarkdown } = await import("./page_markdown.ts");
  const page = await pageMarkdown(text, { url: fetched.url, maxChars: MAX_CHARS, signal: env.signal });
  return { status, url, ...page, truncated: fetched.truncated || page.truncated };
}

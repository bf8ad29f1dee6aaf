import type { Outside } from "./open_connection.ts";
import { portOf } from "./open_connection.ts";
import { callWeb } from "./web_call.ts";
import { type EnvironmentView, shorten } from "@vis/extension";

interface Source {
  readonly title: string;
  readonly url: string;
}

export interface SearchResult {
  readonly text: string;
  readonly sources: readonly Source[];
}

const MAX_TEXT = 20_000, MAX_TITLE = 200, MAX_URL = 2_000, MAX_SNIPPET = 1_000;
const TIMEOUT_MS = 30_000;

export type SearchPlace =
  | { readonly kind: "address"; readonly url: string }
  | { readonly kind: "service"; readonly name: string };

export async function searchWeb(
  env: EnvironmentView,
  query: string,
  { place, limit = 10, outside }: {
    readonly place: SearchPlace | null;
    readonly limit?: number | undefined;
    readonly outside?: Outside;
  },
): Promise<SearchResult> {
  if (place === null) {
    throw new Error(
      `Cannot search the web: Vis knows no search of the service for ${env.router?.root.model ?? "this model"}; ` +
        "the user can set web.searchUrl to the address of a SearXNG server, or choose another model",
    );
  }
  await allowed(env, { query, place });
  const { text, sources } = place.kind === "address"
    ? await searchAddress(env, { query, address: place.url, limit, outside })
    : await searchService(env, query);
  return {
    text: shorten(text.replace(/(?![\n\t])\p{Cc}/gu, "").toWellFormed(), MAX_TEXT),
    sources: shownSources(sources).slice(0, limit),
  };
}

async function allowed(
  env: EnvironmentView,
  { query, place }: { readonly query: string; readonly place: SearchPlace },
): Promise<void> {
  const { search = false } = (env.config ?? {}) as { readonly search?: boolean };
  if (search) return;
  const by = place.kind === "address" ? new URL(place.url).host : place.name;
  const { allowed = false, reason = "no user can answer here" } = await env.approve?.({
    what: `search the web, by ${by}, for ${JSON.stringify(query)}`,
    why: "",
    scope: "searches of the web",
    option: "--set web.search=true",
  }) ?? {};
  if (allowed) return;
  throw new Error(
    `Cannot search the web: searches are not allowed (${reason}); the user allows them with vis config set web.search true`,
  );
}

async function searchService({ searchWeb }: EnvironmentView, query: string): Promise<SearchResult> {
  if (!searchWeb) throw new Error("Cannot search the web: no request is running");
  return await searchWeb(query);
}

/** The address must have the API https://docs.searxng.org/dev/search_api.html. */
async function searchAddress(
  env: EnvironmentView,
  { query, address, limit, outside }: {
    readonly query: string;
    readonly address: string;
    readonly limit: number;
    readonly outside: Outside | undefined;
  },
): Promise<SearchResult> {
  const url = new URL(address);
  url.searchParams.set("q", query);
  url.searchParams.set("format", "json");
  const answer = await callWeb(env, url.href, {
    method: "GET",
    timeoutMs: TIMEOUT_MS,
    rules: { hosts: [], local: [`${url.hostname}:${portOf(url)}`] },
    ...(outside ? { outside } : {}),
  });
  const { results } = ("json" in answer ? answer.json ?? {} : {}) as { readonly results?: unknown };
  if (answer.status >= 400 || !Array.isArray(results)) throw new Error(notSearched(url, answer.status));
  const pages = results.slice(0, limit).map(pageIn).filter(({ url }) => url !== "");
  const text = pages.map(({ title, snippet }, at) => `${at + 1}. ${title}\n${snippet}`.trimEnd()).join("\n\n");
  return { text, sources: pages };
}

function notSearched({ host }: URL, status: number): string {
  const why = status === 403
    ? "it refused with status 403; a SearXNG server needs json in search.formats of its settings.yml"
    : status >= 400
    ? `it failed with status ${status}`
    : "its response is not the JSON of a SearXNG search; check web.searchUrl";
  return `Cannot search the web by ${host}: ${why}`;
}

function pageIn(result: unknown): Source & { readonly snippet: string } {
  const { title, url, content } = (result ?? {}) as Readonly<Record<string, unknown>>;
  return { title: lineOf(title, MAX_TITLE), url: addressIn(url), snippet: lineOf(content, MAX_SNIPPET) };
}

function shownSources(sources: readonly Source[]): readonly Source[] {
  const shown = new Map<string, string>();
  for (const { title, url } of sources) {
    const address = addressIn(url);
    if (address !== "" && !shown.has(address)) shown.set(address, lineOf(title, MAX_TITLE) || new URL(address).host);
  }
  return [...shown].map(([url, title]) => ({ title, url }));
}

function addressIn(url: unknown): string {
  const parsed = typeof url === "string" && url.length <= MAX_URL ? URL.parse(url) : null;
  return parsed !== null && /^https?:$/.test(parsed.protocol) ? parsed.href : "";
}

/** Titles and snippets are untrusted, so control characters and line breaks become spaces. */
function lineOf(text: unknown, most: number): string {
  return typeof text === "string" ? shorten(text.replace(/[\s\p{C}]+/gu, " ").trim(), most) : "";
}

import {
  type CallOutcome,
  counted,
  defineExtension,
  type DoctorCheck,
  type DoctorContext,
  type EnvironmentView,
  fn,
  shorten,
  z,
} from "@vis/extension";
import settings from "./settings.ts";
import type { SearchPlace } from "./search_web.ts";
import type { WebCallOptions } from "./web_call.ts";

const url = z.string().min(1).describe("url");
const shared = {
  headers: z.record(z.string(), z.string()).optional(),
  maxBytes: z.number().int().min(1).max(16 << 20).optional(),
  timeoutMs: z.number().int().min(1).max(110_000).optional(),
};
const Options = z.strictObject({ ...shared, as: z.enum(["text", "json", "bytes"]).optional() }).optional();
const Body = z.union([
  z.string(),
  z.instanceof(Uint8Array).meta({ tsType: "Uint8Array" }),
  z.record(z.string(), z.unknown()).meta({ tsType: "object" }),
  z.array(z.unknown()),
]).describe("body");
const RETURNS = "{status, url, headers, text? | json? | bytes?, truncated}";

const STATUS = { statusCode: "status", code: "status", ok: "status < 400" };
const BODY = "text, json or bytes";
const ANSWERED = { ...STATUS, body: BODY, content: BODY, data: BODY, html: "text" };
const PAGE = { ...STATUS, body: "text", content: "text", data: "text", html: "text", markdown: "text" };

const FOUND = { results: "sources", links: "sources", citations: "sources", answer: "text", content: "text" };

const MAX_NAMES = 600;
const SEARCH = "\nweb.search(query): {text, sources: {title, url}[]}  // Cite the sources as links.";

export default defineExtension({
  namespace: "vis.web",
  alias: { ns: "vis.ext.web", alias: "web" },
  doc: "Sends HTTP requests to hosts that the user allows, and searches the web.",
  group: "web",
  version: "0.1.0",
  author: "Vis",
  license: "Apache-2.0",
  readOnly: true,
  config: settings,
  section: "web",
  activate: (): boolean => true,
  prompt: (env: EnvironmentView): string => requestsPrompt(env) + (searchPlace(env) === null ? "" : SEARCH),
  shown: 0,
  doctor: checkSearch,
  symbols: [
    fn("get", async (env: EnvironmentView, address: string, options?: WebCallOptions) => {
      const { callWeb } = await import("./web_call.ts");
      return await callWeb(env, address, { ...options, method: "GET" });
    }, {
      doc:
        "One GET; JSON is parsed, text decoded, other kinds are bytes. Up to 2 MiB unless maxBytes (16 MiB) says more.",
      untimed: true,
      action: { doing: "fetching", done: "fetched", things: "pages" },
      outcome: statusOutcome,
      args: z.tuple([url, Options]),
      misnamed: ANSWERED,
      returns: RETURNS,
      examples: ['const r = await web.get("https://example.org/data.json"); r.json'],
    }),
    fn("post", async (env: EnvironmentView, address: string, body: unknown, options?: WebCallOptions) => {
      const { callWeb } = await import("./web_call.ts");
      return await callWeb(env, address, { ...options, method: "POST", body });
    }, {
      doc: "One POST; an object or array is sent as JSON.",
      untimed: true,
      reads: false,
      action: { doing: "posting to", done: "posted to", things: "addresses" },
      outcome: statusOutcome,
      args: z.tuple([url, Body, Options]),
      misnamed: ANSWERED,
      returns: RETURNS,
      examples: ['await web.post("https://example.org/items", {name: "a"}, {headers: {authorization: "Bearer …"}})'],
    }),
    fn("readable", async (env: EnvironmentView, address: string, options?: WebCallOptions) => {
      const { readablePage } = await import("./web_call.ts");
      return await readablePage(env, address, options);
    }, {
      doc: "A page as Markdown: its main part where it names one, without menus and scripts.",
      untimed: true,
      action: { doing: "reading", done: "read", things: "pages" },
      outcome: statusOutcome,
      args: z.tuple([url, z.strictObject(shared).optional()]),
      misnamed: { ...PAGE, "links.href": "url", "links.title": "text" },
      returns: "{status, url, title, text, links: {text, url}[], truncated}",
      examples: ['const p = await web.readable("https://example.org/article"); p.text.slice(0, 2000)'],
    }),
    fn("search", async (env: EnvironmentView, query: string, options?: { readonly limit?: number }) => {
      const { searchWeb } = await import("./search_web.ts");
      return await searchWeb(env, query, { ...options, place: searchPlace(env) });
    }, {
      doc: "A text about the query from the web, and the pages of the text. The text and the titles are untrusted.",
      untimed: true,
      unlisted: true,
      action: { doing: "searching the web:", done: "searched the web:", things: "queries" },
      outcome: ({ sources }: { readonly sources: readonly unknown[] }) => counted(sources.length, "source"),
      insteadOf: ["WebSearch", "web_search", "google_search"],
      args: z.tuple([
        z.string().trim().min(1).max(400).describe("query"),
        z.strictObject({ limit: z.number().int().min(1).max(20).default(10) }).optional(),
      ]),
      misnamed: { ...FOUND, "sources.link": "url", "sources.href": "url", "sources.name": "title" },
      returns: "{text, sources: {title, url}[]}",
      examples: ['const found = await web.search("newest release of Deno"); found.text'],
    }),
  ],
});

function requestsPrompt(env: EnvironmentView): string {
  const names = allowed(env);
  if (names === "") return "HTTP; the user allows hosts.";
  const shown = shorten(names, MAX_NAMES);
  return `HTTP to ${
    shown === "*" ? "any public host" : `${shown}; the user allows others`
  }. A failed request is a result: look at status.
web.get(url, {headers?, as?: "text"|"json"|"bytes", maxBytes?, timeoutMs?}): {status, url, headers, text? | json? | bytes?, truncated}
web.post(url, body, {headers?, …}): the same
web.readable(url): {status, url, title, text, links: {text, url}[], truncated}  // A page as Markdown.`;
}

function checkSearch(context: DoctorContext): readonly DoctorCheck[] {
  const place = searchPlace(context);
  const found = place === null
    ? `off: Vis knows no search of the service for ${
      context.router?.root.model ?? "the model"
    }, and web.searchUrl is not set`
    : place.kind === "address"
    ? `${place.url} (web.searchUrl)`
    : `by ${place.name}`;
  return [{ name: "web search", state: "ok", found, fix: "" }];
}

function statusOutcome({ status }: { readonly status: number }): CallOutcome {
  return status < 400 ? { text: "" } : { text: `status ${status}`, ok: false };
}

function allowed({ config }: EnvironmentView): string {
  const { hosts = [], local = [] } = (config ?? {}) as Partial<Record<"hosts" | "local", readonly string[]>>;
  return [...hosts, ...local].join(", ");
}

function searchPlace({ config, router }: Pick<EnvironmentView, "config" | "router">): SearchPlace | null {
  const { searchUrl = null } = (config ?? {}) as { readonly searchUrl?: string | null };
  if (searchUrl !== null) return { kind: "address", url: searchUrl };
  return router?.search ? { kind: "service", name: router.search.provider } : null;
}

import { type EnvironmentView, reasonOf } from "@vis/extension";
import { bodyData, type BodyKind } from "./body_data.ts";
import { type Fetched, fetchUrl, newHost, parseUrl } from "./fetch_url.ts";
import type { Outside } from "./outside.ts";
import { requestHeaders } from "./request_headers.ts";
import { reachOf, type WebRules } from "./web_rules.ts";

export interface WebCallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: BodyKind;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

export interface WebFacts {
  readonly status: number;
  /** After redirects. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_BYTES = 2 << 20, TIMEOUT_MS = 30_000;

/** The result of `web.get` and `web.post`: an answer is data whatever its status; an error says why there was none. */
export async function callWeb(
  env: EnvironmentView,
  text: string,
  options: WebCallOptions & { readonly body?: unknown; readonly method: "GET" | "POST"; readonly outside?: Outside },
): Promise<WebFacts & ReturnType<typeof bodyData> & { readonly truncated: boolean }> {
  const fetched = await fetchPage(env, text, options);
  const type = fetched.headers.get("content-type") ?? "";
  return { ...facts(fetched), ...bodyData(fetched, { type, as: options.as }), truncated: fetched.truncated };
}

export function facts({ status, url, headers }: Fetched): WebFacts {
  const shown = [...headers].filter(([name]) => !name.startsWith("set-cookie"));
  return { status, url: url.href, headers: Object.fromEntries(shown) };
}

/** Rejects with Error `Cannot get https://…: why`. */
export async function fetchPage(
  env: EnvironmentView,
  text: string,
  { headers, body, method, outside, maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS }: WebCallOptions & {
    readonly body?: unknown;
    readonly method: "GET" | "POST";
    readonly outside?: Outside;
  },
): Promise<Fetched> {
  try {
    const url = parseUrl(text);
    const own = { ...typeOf(body, headers), ...headers };
    const bytes = bytesOf(body);
    const sent = requestHeaders(own);
    const rules = await allowing(env, { url, method, bytes, headers: headers ?? {} });
    return await fetchUrl({ method, url, headers: sent, body: bytes }, {
      rules,
      maxBytes,
      timeoutMs,
      signal: env.signal,
      configFile: env.home ? `${env.home}/config.jsonc` : "$VIS_HOME/config.jsonc",
      ...(outside ? { outside } : {}),
    });
  } catch (error) {
    env.signal?.throwIfAborted();
    const safe = text.slice(0, 300).replace(/\/\/[^/?#@]*@/, "//…@");
    const shown = text.length > 300 ? `${safe}…` : safe;
    throw new Error(`Cannot ${method.toLowerCase()} ${shown}: ${reasonOf(error)}`);
  }
}

/** The rules with the host of this request, if the user allows it now; redirects do not ask. */
async function allowing(
  env: EnvironmentView,
  { url, method, bytes, headers }: {
    readonly url: URL;
    readonly method: string;
    readonly bytes: Uint8Array | null;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<WebRules> {
  const rules = rulesOf(env.config);
  const host = newHost(url);
  if (host === null || reachOf(url, rules) !== null || !env.approve) return rules;
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const sent = [
    ...bytes === null ? [] : [` with ${bytes.length} bytes`],
    ...named.length === 0 ? [] : [` with the headers ${JSON.stringify(named)}`],
  ].join(" and");
  const scope = `requests to ${host}`;
  const { allowed, reason } = await env.approve({ what: `${method} ${url.href}${sent}`, why: "", scope });
  if (allowed) return { ...rules, hosts: [...rules.hosts, host] };
  throw new Error(`There are no ${scope}: ${reason}; the user allows them with vis config set web.hosts ${host}`);
}

/** The user's rules; they allow nothing if the section of the configuration is absent. */
export function rulesOf(config: unknown): WebRules {
  return typeof config === "object" && config !== null && "hosts" in config && "local" in config
    ? config as WebRules
    : { hosts: [], local: [] };
}

function bytesOf(body: unknown): Uint8Array | null {
  if (body === undefined) return null;
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

function typeOf(body: unknown, headers: WebCallOptions["headers"] = {}): Record<string, string> {
  if (body === undefined || Object.keys(headers).some((name) => name.toLowerCase() === "content-type")) return {};
  if (body instanceof Uint8Array) return { "content-type": "application/octet-stream" };
  return { "content-type": typeof body === "string" ? "text/plain; charset=utf-8" : "application/json" };
}

import { type Fetched, fetchUrl, newHost, parseUrl } from "./fetch_url.ts";
import type { Body } from "./http_exchange.ts";
import { type Outside, reachOf, type WebRules } from "./open_connection.ts";
import type { PageText } from "./page_markdown.ts";
import {
  advised,
  commandText,
  counted,
  type EnvironmentView,
  exactJson,
  JsonTooLarge,
  readForeignJson,
  retold,
} from "@vis/extension";

export interface WebCallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: BodyKind;
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

interface WebFacts {
  readonly status: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const MAX_BYTES = 2 << 20, TIMEOUT_MS = 30_000, LONGEST_OPTION = 300;

interface RequestFacts {
  readonly method: "GET" | "POST";
  readonly body?: unknown;
  readonly outside?: Outside;
  /** With `rules`, the caller has already decided about the host, so Vis does not ask the user. */
  readonly rules?: WebRules;
}

export async function callWeb(
  env: EnvironmentView,
  text: string,
  options: WebCallOptions & RequestFacts,
): Promise<WebFacts & ReturnType<typeof bodyData> & { readonly truncated: boolean }> {
  const fetched = await fetchPage(env, text, options);
  const type = fetched.headers.get("content-type") ?? "";
  return { ...facts(fetched), ...bodyData(fetched, { type, as: options.as }), truncated: fetched.truncated };
}

function facts({ status, url, headers }: Fetched): WebFacts {
  const shown = [...headers].filter(([name]) => !name.startsWith("set-cookie"));
  return { status, url: url.href, headers: Object.fromEntries(shown) };
}

async function fetchPage(
  env: EnvironmentView,
  text: string,
  { headers, body, method, outside, maxBytes = MAX_BYTES, timeoutMs = TIMEOUT_MS, ...given }:
    & WebCallOptions
    & RequestFacts,
): Promise<Fetched> {
  try {
    const url = parseUrl(text);
    const bytes = bytesOf(body);
    const sent = requestHeaders(headers, typeOf(body, headers));
    const rules = given.rules ?? await allowing(env, { url, method, bytes, headers: headers ?? {} });
    return await fetchUrl({ method, url, headers: sent, body: bytes }, {
      rules,
      maxBytes,
      timeoutMs,
      signal: env.signal,
      configFile: configFileOf(env),
      runsCommands: env.extensions?.some(({ namespace, active }) => namespace === "vis.shell" && active) ?? false,
      ...(outside ? { outside } : {}),
    });
  } catch (error) {
    env.signal?.throwIfAborted();
    const safe = text.slice(0, 300).replace(/\/\/[^/?#@]*@/, "//…@");
    const shown = text.length > 300 ? `${safe}…` : safe;
    throw retold(error, (reason) => `Cannot ${method.toLowerCase()} ${shown}: ${reason}`);
  }
}

/** Vis may ask the user about the host of this request, but not about the host of a redirect. */
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
    ...bytes === null ? [] : [` with ${counted(bytes.length, "byte")}`],
    ...named.length === 0 ? [] : [` with the headers ${JSON.stringify(named)}`],
  ].join(" and");
  const scope = `requests to ${host}`;
  // Hosts of `--set` replace the list.
  const option = commandText([...rules.hosts, host].flatMap((one) => ["--set", `web.hosts=${one}`]), {});
  const known = option.length > LONGEST_OPTION ? {} : { option };
  const exact = `${method} ${url.href}`;
  const { allowed, reason } = await env.approve({ what: `send a request${sent}`, exact, why: "", scope, ...known });
  if (allowed) return { ...rules, hosts: [...rules.hosts, host] };
  // The command replaces the whole list, so the advice names it only for an empty list.
  const way = rules.hosts.length === 0
    ? `the user allows it with vis config set web.hosts ${host}`
    : `the user can add it to web.hosts in ${configFileOf(env)}`;
  throw new Error(`${host} is not allowed (${reason}); ${way}`);
}

function configFileOf({ home }: EnvironmentView): string {
  return home ? `${home}/config.jsonc` : "$VIS_HOME/config.jsonc";
}

function rulesOf(config: unknown): WebRules {
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

const MAX_CHARS = 400_000, PAGE_BYTES = 4 << 20;

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
    throw advised(new Error(`Cannot read ${url}: it is ${name || "not text"}`), "use web.get for its bytes");
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

const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Vis itself sets or omits these headers, which control the message, the connection, a proxy or cookies. */
const OWN =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|keep-alive|cookie2?|proxy-.*|sec-.*|http2-settings)$/;
const MOST = 50, MAX_VALUE = 8_000;
const DEFAULTS = { "user-agent": "vis", accept: "*/*" };

function requestHeaders(
  wanted: Readonly<Record<string, string>> = {},
  type: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  const entries = Object.entries(wanted);
  if (entries.length > MOST) {
    throw advised(new Error(`The request has ${entries.length} headers, and the limit is ${MOST}`), "send fewer");
  }
  const headers = new Map<string, string>(Object.entries({ ...DEFAULTS, ...type }));
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    if (!NAME.test(name)) throw new Error(`${JSON.stringify(name.slice(0, 60))} is not the name of a header`);
    if (OWN.test(key)) throw advised(new Error(`Vis itself sets or omits the header ${key}`), "omit the header");
    // A line break would start another header, and a header can have only bytes.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      throw new Error(`The header ${key} has a line break or another character that a header cannot carry`);
    }
    if (value.length > MAX_VALUE) {
      throw advised(
        new Error(`The header ${key} has ${value.length} characters, and the limit is ${MAX_VALUE}`),
        "shorten it",
      );
    }
    headers.set(key, value.trim());
  }
  headers.set("accept-encoding", "gzip");
  return headers;
}

const LIMITS = { values: 400_000, depth: 500 };

type BodyKind = "text" | "json" | "bytes";

function bodyData(
  { bytes, truncated }: Body,
  { type, as }: { readonly type: string; readonly as: BodyKind | undefined },
): { readonly text: string } | { readonly json: unknown } | { readonly bytes: Uint8Array } {
  const wanted = as ?? kindOf(type, bytes);
  if (wanted === "bytes") return { bytes };
  const text = bodyText(bytes, type);
  if (wanted === "text" || truncated) return { text };
  try {
    return { json: exactJson(text, readForeignJson(text, LIMITS)) };
  } catch (error) {
    if (error instanceof JsonTooLarge) {
      throw advised(
        new RangeError(`Cannot parse the response as JSON: ${error.what}`),
        'use {as: "text"} for the text',
      );
    }
    return { text };
  }
}

function bodyText(bytes: Uint8Array, type: string): string {
  const charset = markedCharset(bytes) ?? /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type)?.[1] ??
    ownCharset(bytes, type);
  return decoderFor(charset ?? "utf-8").decode(bytes);
}

/** A byte order mark is more reliable than a declared name. */
function markedCharset([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : undefined;
}

const isHtml = (type: string): boolean => /^\s*(?:text\/html|application\/xhtml\+xml)\b/i.test(type);

function ownCharset(bytes: Uint8Array, type: string): string | undefined {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 1024));
  const xml = /^<\?xml[^<>]{0,200}\sencoding\s{0,9}=\s{0,9}["']([\w.:-]{1,40})/.exec(head)?.[1];
  const meta = /<meta[^<>]{0,200}charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})/i.exec(head)?.[1];
  const named = xml ?? (isHtml(type) ? meta : undefined);
  return named !== undefined && /^utf-?16/i.test(named) ? undefined : named;
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

function kindOf(type: string, bytes: Uint8Array): BodyKind {
  const [name = ""] = type.toLowerCase().split(";");
  const plain = name.trim();
  if (/^application\/(?:json|[\w.+-]{1,80}\+json)$/.test(plain) || plain === "text/json") return "json";
  if (
    /^text\/|\+xml$|^application\/(?:xml|xhtml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|sql|graphql)/.test(
      plain,
    )
  ) {
    return "text";
  }
  if (/^application\/(?:x-www-form-urlencoded|x-ndjson|jsonl|x-sh)/.test(plain)) return "text";
  return plain === "" && !bytes.subarray(0, 8000).includes(0) ? "text" : "bytes";
}

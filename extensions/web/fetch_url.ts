import { advised, retold } from "@vis/extension";
import { type Body, exchange, type HttpAnswer, type HttpRequest, readResponseBody } from "./http_exchange.ts";
import {
  addressClass,
  openConnection,
  OUTSIDE,
  type Outside,
  portOf,
  type Reach,
  reachOf,
  type WebRules,
} from "./open_connection.ts";

interface FetchOptions {
  readonly rules: WebRules;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly configFile: string;
  readonly runsCommands: boolean;
  readonly outside?: Outside;
}

export interface Fetched extends Body {
  readonly status: number;
  readonly url: URL;
  readonly headers: ReadonlyMap<string, string>;
}

const MOST_REDIRECTS = 5, MAX_URL = 8_000;
const REDIRECTS = [301, 302, 303, 307, 308];

export function parseUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL) throw new Error(`The address has ${text.length} characters, and the limit is ${MAX_URL}`);
  if (!URL.canParse(text, base)) throw new Error("The address is not a URL such as https://host/path");
  const url = new URL(text, base);
  if (!/^https?:$/.test(url.protocol)) {
    throw new Error(`The protocol is ${url.protocol.slice(0, -1)}, but must be https or http`);
  }
  if (url.username !== "" || url.password !== "") {
    throw advised(new Error("The address contains a name or password"), "send them as the header authorization");
  }
  return url;
}

export async function fetchUrl(first: HttpRequest, options: FetchOptions): Promise<Fetched> {
  const timer = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, timer.signal]) : timer.signal;
  const timeout = setTimeout(
    () =>
      timer.abort(
        advised(
          new Error(`It took longer than ${options.timeoutMs} ms, the limit`),
          "web.get, web.post and web.readable take timeoutMs, up to 110000",
        ),
      ),
    options.timeoutMs,
  );
  try {
    let request = first;
    for (let count = 0; count <= MOST_REDIRECTS; count++) {
      const answer = await once(request, { ...options, signal });
      if (answer.next === null) return answer.fetched;
      request = answer.next;
    }
    throw new Error(`It redirected more than ${MOST_REDIRECTS} times, the last time to ${request.url.href}`);
  } finally {
    clearTimeout(timeout);
  }
}

type Once = { readonly next: HttpRequest } | { readonly next: null; readonly fetched: Fetched };

async function once(
  request: HttpRequest,
  options: FetchOptions & { readonly signal: AbortSignal },
): Promise<Once> {
  const { outside = OUTSIDE, signal, maxBytes } = options;
  const reach = allowedReach(request.url, options);
  const connection = await openConnection(request.url, { reach, outside, signal });
  let open = true;
  const close = (): void => {
    if (open) connection.close();
    open = false;
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    if (signal.aborted) close();
    const answer = await exchange(connection, request);
    const next = redirected(request, answer);
    if (next) return { next };
    const body = await readResponseBody(answer, { maxBytes });
    return { next: null, fetched: { status: answer.status, url: request.url, headers: answer.headers, ...body } };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

function allowedReach(url: URL, { rules, configFile, runsCommands }: FetchOptions): Reach {
  const reach = reachOf(url, rules);
  if (reach !== null) return reach;
  const plain = plainHost(url);
  if (isAddress(plain) && addressClass(plain) === "never") {
    throw new Error(`The address ${plain} is reserved`);
  }
  const name = newHost(url) ?? `${url.hostname}:${portOf(url)}`;
  const list = isOwn(plain) ? "local" : "hosts";
  const cause = `the host ${name} is not in web.${list}`;
  const way = `the user can add it to web.${list} in ${configFile}`;
  if (!LOOPBACK.test(plain) || !runsCommands) throw new Error(`${cause}; ${way}`);
  const command = JSON.stringify(`curl -sS ${url.href}`);
  throw advised(new Error(`${cause} (${way})`), `call a server of shell.start by await shell.run(${command})`);
}

export function newHost(url: URL): string | null {
  if (isOwn(plainHost(url))) return null;
  return url.port === "" ? url.hostname : `${url.hostname}:${portOf(url)}`;
}

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/;

const LOCAL_NAME = /^[^.]*$|\.(?:localhost|local|internal|home\.arpa|lan)$/;

/** A DNS query would carry data out, so Vis resolves a name only if the user has allowed the host. */
function isOwn(host: string): boolean {
  return isAddress(host) ? addressClass(host) !== "public" : LOCAL_NAME.test(host);
}

const plainHost = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.includes(":");

function redirected(request: HttpRequest, { status, headers }: HttpAnswer): HttpRequest | null {
  const location = headers.get("location");
  if (!REDIRECTS.includes(status) || location === undefined) return null;
  const url = parseRedirect(location, request.url);
  const sameOrigin = url.origin === request.url.origin;
  const kept = status >= 307 || request.method === "GET";
  if (kept && request.body && !sameOrigin) {
    throw advised(
      new Error(`It redirects to ${url.origin}, and Vis sends a posted body only to the original origin`),
      "call web.post with the new address",
    );
  }
  const headersKept = sameOrigin ? request.headers : headersForOthers(request.headers);
  if (kept) return { ...request, url, headers: headersKept };
  return { method: "GET", url, headers: withoutContent(headersKept), body: null };
}

function parseRedirect(location: string, from: URL): URL {
  try {
    const url = parseUrl(asUtf8(location), from);
    if (from.protocol === "https:" && url.protocol === "http:") throw new Error("It goes from https: to http:");
    return url;
  } catch (error) {
    throw retold(error, (reason) => `Its redirect is not allowed, because ${reason}`);
  }
}

function asUtf8(header: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(header, (char) => char.charCodeAt(0)));
  } catch {
    return header;
  }
}

function withoutContent(headers: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...headers].filter(([name]) => !name.startsWith("content-")));
}

const PLAIN = /^(?:accept|accept-language|user-agent)$/;

/** Other headers may carry keys, which are only for the first origin. */
function headersForOthers(headers: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...headers].filter(([name]) => PLAIN.test(name) || name === "accept-encoding"));
}

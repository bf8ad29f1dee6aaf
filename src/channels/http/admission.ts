import { BlockList, isIP, isIPv6 } from "node:net";
import { createMiddleware } from "hono/factory";
import { BoundedMap } from "../../domain/kit/bounded_map.ts";
import type { Env, HttpLimits, HttpParts, Rate } from "./http_parts.ts";
import { Problem } from "./problem.ts";
import { checkToken } from "./tokens.ts";

type Handler = ReturnType<typeof createMiddleware<Env>>;

export function admission(
  { tokens, proxies, limits, now }: Pick<HttpParts, "tokens" | "proxies" | "limits" | "now">,
  hosts: ReadonlySet<string>,
): { readonly admitted: Handler; readonly authenticated: Handler } {
  const addressOf = addressReader(proxies);
  const perAddress = rateLimiter(limits.perAddress, { what: "address", counts: "requests", now });
  const perToken = rateLimiter(limits.perToken, { what: "token", counts: "requests", now });
  const counts = "requests with an invalid token";
  const wrongTokens = rateLimiter(limits.wrongTokens, { what: "address", counts, now });
  return {
    admitted: createMiddleware<Env>(async (c, next) => {
      const address = addressOf(c.req.raw.headers, c.env.remote);
      c.set("address", address);
      guard(c.req.raw, limits, hosts);
      perAddress(address);
      await next();
    }),
    authenticated: createMiddleware<Env>(async (c, next) => {
      const given = c.req.header("authorization");
      const caller = await checkToken(given ?? null, { tokens, now }).catch((error: unknown) => {
        const isWrong = given !== undefined && error instanceof Problem && error.status === 401;
        if (isWrong) wrongTokens(c.var.address);
        throw error;
      });
      perToken(caller.name);
      c.set("caller", caller);
      const { parts } = c.env;
      c.env = { ...c.env, parts: { ...parts, conversations: parts.conversations.of(caller) } };
      await next();
    }),
  };
}

const LENGTH_REQUIRED = { kind: "bad-request", status: 411 } as const;

type GuardLimits = Pick<HttpLimits, "chunked" | "headerBytes" | "urlBytes" | "bodyBytes">;

/** The check of the Host header prevents DNS rebinding. An entry of `hosts` without a port matches every port. */
export function guard(request: Request, limits: GuardLimits, hosts: ReadonlySet<string>): void {
  checkFraming(request, limits);
  checkSizes(request, limits);
  const host = (request.headers.get("host") ?? "").toLowerCase();
  // Prometheus sends the address of the node as the host. The metrics need a token, which a page of another site lacks.
  if (!isKnown(host, hosts) && new URL(request.url).pathname !== "/metrics") {
    throw new Problem(
      host === ""
        ? "Cannot serve the request: it has no Host header; send one"
        : `Cannot serve host ${
          host.slice(0, 100)
        }: the server does not have this name; its operator can add the name to server.hosts`,
      { kind: "misdirected" },
    );
  }
  const origin = request.headers.get("origin");
  if (origin !== null && !isSameOrigin(origin, host)) {
    throw new Problem(
      `Cannot serve a page of ${
        origin.slice(0, 100)
      }: the server accepts only pages of its own origin; send the request from the server's page, or without a browser`,
      {
        kind: "forbidden",
      },
    );
  }
  const site = request.headers.get("sec-fetch-site");
  const isVisit = request.method === "GET" && request.headers.get("sec-fetch-mode") === "navigate";
  if ((site === "cross-site" || site === "same-site") && !isVisit) {
    throw new Problem(
      "Cannot serve the request: a page of another origin sent it; send the request from a page of the server, or " +
        "without a browser",
      { kind: "forbidden" },
    );
  }
}

/** If a proxy and this server disagreed about the end of a body, one request could smuggle another. */
function checkFraming({ headers }: Request, { chunked }: GuardLimits): void {
  const coding = headers.get("transfer-encoding")?.toLowerCase();
  if (coding === undefined) return;
  if (headers.has("content-length")) {
    throw new Problem(
      "Cannot read the body: the request has both Content-Length and Transfer-Encoding; send only one",
      {
        kind: "bad-request",
      },
    );
  }
  if (coding === "chunked" && !chunked) {
    throw new Problem(
      "Cannot read the body: its transfer encoding is chunked; send a Content-Length instead",
      LENGTH_REQUIRED,
    );
  }
  if (coding === "chunked") return;
  const detail = `Cannot read the body: its transfer encoding is ${coding.slice(0, 50)}; send it without an encoding`;
  throw new Problem(detail, { kind: "unsupported-media-type" });
}

function checkSizes(request: Request, limits: GuardLimits): void {
  if (request.url.length > limits.urlBytes) {
    throw new Problem(
      `Cannot read the URL: it has ${request.url.length} bytes, more than the limit of ${limits.urlBytes}; shorten the URL`,
      {
        kind: "too-large",
        status: 414,
      },
    );
  }
  let bytes = 0;
  for (const [name, value] of request.headers) bytes += name.length + value.length;
  if (bytes > limits.headerBytes) {
    throw new Problem(
      `Cannot read the headers: they have ${bytes} bytes, more than the limit of ${limits.headerBytes}; send fewer or shorter headers`,
      {
        kind: "too-large",
        status: 431,
      },
    );
  }
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > limits.bodyBytes) throw bodyTooLarge(limits.bodyBytes, length);
}

export function bodyTooLarge(limit: number, bytes: number | null = null): Problem {
  const size = bytes === null
    ? `more than ${limit} bytes, the limit`
    : `${bytes} bytes, more than the limit of ${limit}`;
  return new Problem(
    `Cannot read the body: it has ${size}; send less, or let the operator raise server.bodyMiB`,
    {
      kind: "too-large",
      headers: { connection: "close" },
    },
  );
}

function isKnown(host: string, hosts: ReadonlySet<string>): boolean {
  return hosts.has(host) || hosts.has(host.replace(/:\d{1,5}$/, ""));
}

function isSameOrigin(origin: string, host: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") return false;
  const standard = url.protocol === "https:" ? ":443" : ":80";
  return url.host === host || `${url.host}${standard}` === host;
}

/** The addresses of one IPv6 network (/64) share a limit, because one client can control the whole network. */
export function addressReader(proxies: readonly string[]): (headers: Headers, remote: string) => string {
  const known = new BlockList();
  for (const proxy of proxies) {
    const [address = "", prefix] = proxy.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) known.addAddress(address, family);
    else known.addSubnet(address, Number(prefix), family);
  }
  return (headers, remote) => {
    const forwarded = (headers.get("x-forwarded-for") ?? "").split(",").map((one) => plain(one.trim()));
    let address = plain(remote);
    // A client can forge entries left of its own address, so the search begins with the rightmost entry.
    for (const before of forwarded.toReversed()) {
      if (!isIn(known, address) || !/^[0-9a-f.:]{2,45}$/.test(before)) break;
      address = before;
    }
    return address.includes(":") ? network(address) : address;
  };
}

function isIn(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 6 ? "ipv6" : "ipv4");
}

function plain(address: string): string {
  return address.toLowerCase().replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:(?=\d+\.)/, "");
}

function network(address: string): string {
  const [head = "", tail = ""] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}

const KEPT_BUCKETS = 10_000;

export function rateLimiter(
  { perMinute, burst }: Rate,
  { what, counts, now }: { readonly what: string; readonly counts: string; readonly now: () => number },
): (key: string) => void {
  const buckets = new BoundedMap<string, { readonly left: number; readonly at: number }>(KEPT_BUCKETS);
  return (key) => {
    const at = now();
    const bucket = buckets.get(key) ?? { left: burst, at };
    const filled = Math.min(burst, bucket.left + (Math.max(0, at - bucket.at) * perMinute) / 60_000);
    const isEmpty = filled < 1;
    buckets.set(key, { left: isEmpty ? filled : filled - 1, at });
    if (!isEmpty) return;
    const seconds = Math.max(1, Math.ceil(((1 - filled) * 60) / perMinute));
    throw new Problem(
      `Cannot serve the request: this ${what} exceeds its limit for ${counts} (${perMinute} a minute, in bursts of up to ${burst}); ` +
        `try again in ${seconds} s`,
      {
        kind: "rate-limited",
        headers: { "retry-after": String(seconds) },
      },
    );
  };
}

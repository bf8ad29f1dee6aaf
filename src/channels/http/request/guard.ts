import type { HttpLimits } from "../routing/http_parts.ts";
import { Problem } from "../response/problem.ts";

const LENGTH_REQUIRED = { kind: "bad-request", status: 411 } as const;

export interface GuardOptions {
  readonly limits: Pick<HttpLimits, "chunked" | "headerBytes" | "urlBytes" | "bodyBytes">;
  /** Lower-case `name` or `name:port`; without a port, any port matches. */
  readonly hosts: ReadonlySet<string>;
}

/** Checks a request first; throws `Problem` if it is too large or comes from a page of another origin. The Host header
 * is checked against DNS rebinding, where a foreign name resolves to this machine. */
export function guard(request: Request, { limits, hosts }: GuardOptions): void {
  checkFraming(request, limits);
  checkSizes(request, limits);
  const host = (request.headers.get("host") ?? "").toLowerCase();
  if (!isKnown(host, hosts)) {
    throw new Problem(`Cannot serve host: ${host.slice(0, 100) || "none"}`, { kind: "misdirected" });
  }
  const origin = request.headers.get("origin");
  if (origin !== null && !isSameOrigin(origin, host)) {
    throw new Problem(`Cannot serve a page from another origin: ${origin.slice(0, 100)}`, { kind: "forbidden" });
  }
  const site = request.headers.get("sec-fetch-site");
  const isVisit = request.method === "GET" && request.headers.get("sec-fetch-mode") === "navigate";
  if ((site === "cross-site" || site === "same-site") && !isVisit) {
    throw new Problem("Cannot serve a page from another origin", { kind: "forbidden" });
  }
}

/** A body whose end two servers would see in different places is refused. */
function checkFraming({ headers }: Request, { chunked }: GuardOptions["limits"]): void {
  const coding = headers.get("transfer-encoding")?.toLowerCase();
  if (coding === undefined) return;
  if (headers.has("content-length")) {
    throw new Problem("Cannot read a body with both Content-Length and Transfer-Encoding", { kind: "bad-request" });
  }
  if (coding === "chunked" && !chunked) throw new Problem("Cannot read a body without Content-Length", LENGTH_REQUIRED);
  if (coding === "chunked") return;
  const detail = `Cannot read a body with transfer encoding ${coding.slice(0, 50)}`;
  throw new Problem(detail, { kind: "unsupported-media-type" });
}

function checkSizes(request: Request, limits: GuardOptions["limits"]): void {
  if (request.url.length > limits.urlBytes) {
    throw new Problem(`Cannot read the URL: it is longer than ${limits.urlBytes} bytes`, {
      kind: "too-large",
      status: 414,
    });
  }
  let bytes = 0;
  for (const [name, value] of request.headers) bytes += name.length + value.length;
  if (bytes > limits.headerBytes) {
    throw new Problem(`Cannot read the headers: they are longer than ${limits.headerBytes} bytes`, {
      kind: "too-large",
      status: 431,
    });
  }
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > limits.bodyBytes) throw bodyTooLarge(limits.bodyBytes);
}

/** The problem for a body over the limit. */
export function bodyTooLarge(limit: number): Problem {
  return new Problem(`Cannot read the body: the limit is ${limit} bytes`, {
    kind: "too-large",
    headers: { connection: "close" },
  });
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

import { captured } from "../intrinsics/captured.ts";
import { type HeaderNode, makeExchange, type Received, type SentRequest } from "./exchange.ts";
import type { OutsideWork } from "./outside_work.ts";
import { RealmBlob } from "./blob.ts";
import { RealmBody } from "./body.ts";
import { RealmForm } from "./form.ts";
import { RealmHeaders } from "./headers.ts";
import { RealmRequest, type RealmSignal, type RequestInput } from "./request.ts";
import { RealmResponse } from "./response.ts";

const clone = globalThis.structuredClone.bind(globalThis);
const MAX_REDIRECTS = 20;
type Plain = Record<string, unknown>;
type Send = (request: RealmRequest) => Promise<Received>;

/** `fetch` and its classes for the realm. The classes are ordinary code with their own data and have no more rights
 * than a block; Deno's would run a block's code outside its time limit. Only `exchange` uses the runtime. The other
 * walls decide which addresses can be reached. */
export function realmFetch(work: OutsideWork): Plain {
  const exchange = makeExchange();
  const send = async (request: RealmRequest): Promise<Received> => {
    const sent = plain(request);
    const { done, stop } = work.start({ what: `fetch ${sent.url}`, begin: (signal) => exchange(sent, signal) });
    request.signal?.addEventListener("abort", () => stop("it was aborted"));
    return await done as Received;
  };
  const fetch = (input: unknown, init?: RequestInput): Promise<RealmResponse> => follow(send, { input, init });
  const classes = {
    Headers: RealmHeaders,
    Request: RealmRequest,
    Response: RealmResponse,
    FormData: RealmForm,
    Blob: RealmBlob,
  };
  for (const [name, value] of Object.entries(classes)) captured.defineProperty(value, "name", { value: name });
  return { fetch: captured.freeze(fetch), ...classes };
}

async function follow(
  send: Send,
  { input, init }: { readonly input: unknown; readonly init: RequestInput | undefined },
): Promise<RealmResponse> {
  let request = new RealmRequest(input, init);
  for (let hops = 0;; hops++) {
    throwIfAborted(request.signal);
    const { url, status, statusText, headers: nodes, body } = await send(request);
    const headers = new RealmHeaders();
    for (let node = nodes; node; node = node.next) headers.append(node.name, node.value);
    const location = [301, 302, 303, 307, 308].includes(status) ? headers.get("location") : null;
    if (location === null || request.redirect === "manual") {
      const data = body.length === 0 ? null : body;
      return new RealmResponse(data, { url, status, statusText, redirected: hops > 0, headers });
    }
    if (request.redirect === "error" || hops >= MAX_REDIRECTS) {
      throw new TypeError(`Cannot fetch ${url}: redirected to ${location}`);
    }
    request = redirected(request, { location, status });
  }
}

function throwIfAborted(signal: RealmSignal | null): void {
  if (signal?.aborted) throw signal.reason;
}

/** Credentials are not sent to any other address. */
function redirected(
  request: RealmRequest,
  { location, status }: { readonly location: string; readonly status: number },
): RealmRequest {
  const to = new URL(location, request.url);
  const headers = new RealmHeaders(request.headers);
  if (to.origin !== new URL(request.url).origin) {
    for (const name of ["authorization", "cookie", "proxy-authorization"]) headers.delete(name);
  }
  const { method, redirect, signal } = request;
  const more = { headers, redirect, ...(signal ? { signal } : {}) };
  const keeps = status >= 307 || /^(?:GET|HEAD)$/.test(method) || (status !== 303 && method !== "POST");
  if (keeps) return new RealmRequest(to.href, { ...more, method, body: RealmBody.peek(request) });
  headers.delete("content-type");
  return new RealmRequest(to.href, { ...more, method: "GET" });
}

function plain(request: RealmRequest): SentRequest {
  const url = new URL(request.url);
  // The grant is for the address: names cannot be resolved here.
  if (url.hostname === "localhost") url.hostname = "127.0.0.1";
  const body = RealmBody.peek(request);
  let headers: HeaderNode | null = null;
  for (const [name, value] of request.headers) headers = { name: `${name}`, value: `${value}`, next: headers };
  return { url: `${url.href}`, method: `${request.method}`, headers, body: body ? clone(RealmBlob.read(body)) : null };
}

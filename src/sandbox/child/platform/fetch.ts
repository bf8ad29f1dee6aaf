import { captured } from "../realm/captured.ts";
import {
  RealmBlob,
  RealmBody,
  RealmForm,
  RealmHeaders,
  RealmRequest,
  RealmResponse,
  type RealmSignal,
  refused,
  type RequestInput,
} from "./http_classes.ts";
import type { OutsideWork } from "./outside_work.ts";

const clone = globalThis.structuredClone.bind(globalThis);
const MAX_REDIRECTS = 20;
type Plain = Record<string, unknown>;
type Send = (request: RealmRequest) => Promise<Received>;

/** Deno's classes would run a block's code outside its time limit, so the realm has its own `fetch` classes. The other
 * walls decide which addresses a block can reach. */
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
  const first = request.url;
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
      const cannot = `Cannot fetch ${first}: the server redirects`;
      if (hops >= MAX_REDIRECTS) throw new TypeError(`${cannot} more than ${MAX_REDIRECTS} times, last to ${location}`);
      throw refused(`${cannot} to ${location}, and the call has redirect: "error"`, 'use "follow"');
    }
    request = redirected(request, { location, status });
  }
}

function throwIfAborted(signal: RealmSignal | null): void {
  if (signal?.aborted) throw signal.reason;
}

/** A redirect to another origin must not receive credentials. */
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
  // The grant contains the address, because the child cannot resolve names.
  if (url.hostname === "localhost") url.hostname = "127.0.0.1";
  const body = RealmBody.peek(request);
  let headers: HeaderNode | null = null;
  for (const [name, value] of request.headers) headers = { name: `${name}`, value: `${value}`, next: headers };
  return { url: `${url.href}`, method: `${request.method}`, headers, body: body ? clone(RealmBlob.read(body)) : null };
}

const nativeFetch = globalThis.fetch;
const NativeRequest = globalThis.Request;
const NativeBytes = Uint8Array;
const setBytes = Uint8Array.prototype.set;
const MAX_BODY_BYTES = 64 << 20;

interface HeaderNode {
  readonly name: string;
  readonly value: string;
  readonly next: HeaderNode | null;
}

/** The runtime receives strings and bytes, because other objects would run a block's code. */
interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: HeaderNode | null;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

interface Received {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderNode | null;
  readonly body: Uint8Array<ArrayBuffer>;
}

type FetchExchange = (sent: SentRequest, signal: AbortSignal) => Promise<Received>;

/** The caller must call this function before foreign code runs, because the function checks how this runtime looks up
 * `Request`. */
function makeExchange(): FetchExchange {
  const call = looksUpRequest() ? fetchWithRequest : nativeFetch;
  return async ({ url, method, headers, body }, signal) => {
    // A block may have replaced an iterator of lists, so the headers are a plain record.
    const record: Record<string, string> = Object.create(null);
    for (let node = headers; node; node = node.next) record[node.name] = node.value;
    const init: RequestInit = Object.assign(Object.create(null), {
      method,
      redirect: "manual",
      headers: record,
      body,
      signal,
    });
    const response = await call(url, init);
    let got: HeaderNode | null = null;
    response.headers.forEach((value, name) => got = { name, value, next: got });
    const { status, statusText } = response;
    return { url: response.url, status, statusText, headers: got, body: await readAll(response) };
  };
}

function looksUpRequest(): boolean {
  let looked = false;
  const restore = replaceRequest(() => looked = true);
  const none = nativeFetch("about:blank", { signal: AbortSignal.abort() });
  restore();
  none.catch(() => {});
  return looked;
}

/** Some runtimes look up Request in the global, where a block's own Request would receive the runtime's signal. The
 * first lookup therefore finds the runtime's class. */
function fetchWithRequest(url: string, init: RequestInit): Promise<Response> {
  const restore = replaceRequest(() => {});
  try {
    return nativeFetch(url, init);
  } finally {
    restore();
  }
}

function replaceRequest(onLook: () => void): () => void {
  const before = captured.getOwnPropertyDescriptor(globalThis, "Request");
  let replaced = true;
  const restore = (): void => {
    if (!replaced) return;
    replaced = false;
    if (before) captured.defineProperty(globalThis, "Request", before);
    else Reflect.deleteProperty(globalThis, "Request");
  };
  const get = (): typeof NativeRequest => {
    restore();
    onLook();
    return NativeRequest;
  };
  captured.defineProperty(globalThis, "Request", Object.assign(Object.create(null), { configurable: true, get }));
  return restore;
}

interface Chunk {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly before: Chunk | null;
}

async function readAll({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  let last: Chunk | null = null, size = 0;
  const reader = body?.getReader();
  for (;;) {
    const step = await reader?.read();
    if (!step?.value) break;
    size += step.value.length;
    if (size > MAX_BODY_BYTES) {
      await reader?.cancel();
      throw new captured.RangeError(`its body is larger than ${MAX_BODY_BYTES} bytes, the limit`);
    }
    last = { bytes: step.value, before: last };
  }
  const all = new NativeBytes(size);
  for (let chunk: Chunk | null = last; chunk; chunk = chunk.before) {
    size -= chunk.bytes.length;
    captured.apply(setBytes, all, [chunk.bytes, size]);
  }
  return all;
}

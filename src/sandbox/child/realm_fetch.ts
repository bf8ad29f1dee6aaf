import { captured } from "./captured.ts";
import type { OutsideWork } from "./outside_work.ts";
import { RealmBlob } from "./realm_blob.ts";
import { RealmBody } from "./realm_body.ts";
import { RealmForm } from "./realm_form.ts";
import { RealmHeaders } from "./realm_headers.ts";
import { RealmRequest, type RequestInput } from "./realm_request.ts";
import { RealmResponse } from "./realm_response.ts";

const nativeFetch = globalThis.fetch;
const NativeHeaders = globalThis.Headers;
const NativeBytes = Uint8Array;
const setBytes = Uint8Array.prototype.set;
const clone = globalThis.structuredClone.bind(globalThis);
const MAX_BODY_BYTES = 64 << 20;
type Plain = Record<string, unknown>;

/** All that crosses to the runtime: strings and bytes. */
interface Sent {
  readonly url: string;
  readonly method: string;
  readonly redirect: string;
  readonly headers: Node | null;
  readonly body: Uint8Array<ArrayBuffer> | null;
}
interface Node {
  readonly name: string;
  readonly value: string;
  readonly next: Node | null;
}
interface Received {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly redirected: boolean;
  readonly headers: Node | null;
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * `fetch` and its classes for the realm. The classes are ordinary code over data of their own, with no more rights than
 * a block; Deno's would run a block's code outside its time limit. Only `exchange` touches the runtime. Which address
 * may be reached is for the other walls to say.
 */
export function realmFetch(work: OutsideWork): Plain {
  const fetch = async (input: unknown, init?: RequestInput): Promise<RealmResponse> => {
    const request = new RealmRequest(input, init);
    const { signal } = request;
    if (signal?.aborted) throw signal.reason;
    const sent = plain(request);
    const { done, stop } = work.start({
      what: `fetch ${sent.url}`,
      begin: (native) => exchange(sent, native),
    });
    signal?.addEventListener("abort", () => stop("it was aborted"));
    const received = await done as Received;
    const headers = new RealmHeaders();
    for (let node = received.headers; node; node = node.next) headers.append(node.name, node.value);
    const { url, status, statusText, redirected } = received;
    const empty = received.body.length === 0 ? null : received.body;
    return new RealmResponse(empty, { url, status, statusText, redirected, headers });
  };
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

function plain(request: RealmRequest): Sent {
  const url = new URL(request.url);
  // The grant is for the address: names cannot be looked up here.
  if (url.hostname === "localhost") url.hostname = "127.0.0.1";
  const body = RealmBody.peek(request);
  let headers: Node | null = null;
  for (const [name, value] of request.headers) headers = { name: `${name}`, value: `${value}`, next: headers };
  return {
    url: `${url.href}`,
    method: `${request.method}`,
    redirect: `${request.redirect}`,
    headers,
    body: body ? clone(RealmBlob.read(body)) : null,
  };
}

async function exchange({ url, method, redirect, headers, body }: Sent, signal: AbortSignal): Promise<Received> {
  const all = new NativeHeaders();
  for (let node = headers; node; node = node.next) all.append(node.name, node.value);
  const init: RequestInit = Object.assign(Object.create(null), { method, redirect, headers: all, body, signal });
  const response = await nativeFetch(url, init);
  let got: Node | null = null;
  response.headers.forEach((value, name) => got = { name, value, next: got });
  const { status, statusText, redirected } = response;
  return { url: response.url, status, statusText, redirected, headers: got, body: await readAll(response) };
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
      throw new captured.RangeError(`body of over ${MAX_BODY_BYTES} bytes`);
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

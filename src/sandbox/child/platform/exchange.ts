import { captured } from "../intrinsics/captured.ts";

const nativeFetch = globalThis.fetch;
const NativeRequest = globalThis.Request;
const NativeBytes = Uint8Array;
const setBytes = Uint8Array.prototype.set;
const MAX_BODY_BYTES = 64 << 20;

export interface HeaderNode {
  readonly name: string;
  readonly value: string;
  readonly next: HeaderNode | null;
}

/** Everything that is passed to the runtime: strings and bytes. */
export interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: HeaderNode | null;
  readonly body: Uint8Array<ArrayBuffer> | null;
}

export interface Received {
  readonly url: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderNode | null;
  readonly body: Uint8Array<ArrayBuffer>;
}

export type FetchExchange = (sent: SentRequest, signal: AbortSignal) => Promise<Received>;

/** One request with the runtime's own fetch, and its whole response; redirects are not followed. Created before foreign
 * code runs, since it first checks how this runtime looks up its Request. */
export function makeExchange(): FetchExchange {
  const call = looksUpRequest() ? fetchWithRequest : nativeFetch;
  return async ({ url, method, headers, body }, signal) => {
    // A plain record: a list would be traversed by an iterator that a block may have replaced.
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

/** Deno 2.7 looks up Request in the global at each call. */
function looksUpRequest(): boolean {
  let looked = false;
  const restore = replaceRequest(() => looked = true);
  const none = nativeFetch("about:blank", { signal: AbortSignal.abort() });
  restore();
  none.catch(() => {});
  return looked;
}

/** In such a runtime, a block's own Request would receive the runtime's signal. Therefore only the first lookup in the
 * global finds the runtime's class; no foreign code runs between the start of the call and that lookup. */
function fetchWithRequest(url: string, init: RequestInit): Promise<Response> {
  const restore = replaceRequest(() => {});
  try {
    return nativeFetch(url, init);
  } finally {
    restore();
  }
}

/** Throws TypeError if a block has locked the name. The first lookup restores the original. */
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

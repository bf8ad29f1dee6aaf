import type { Endpoint } from "./_endpoint.ts";
import type { Failures, ServiceError } from "./_failures.ts";
import { isError, said } from "./_error_body.ts";
import { sse } from "./sse.ts";
import type { JsonFields, ProviderApi, WireCall } from "./wire.ts";
import { readForeignJson } from "../../domain/text/read_foreign_json.ts";

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** A stream has a few hundred bytes per token, and services add pings. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;
const MAX_REDIRECTS = 3;
/** Characters of `head`. */
const MAX_HEAD = 400;
const JSON_TYPE = /\bapplication\/(\w+\+)?json\b/i;

export interface ExchangeFacts {
  readonly endpoint: Endpoint;
  readonly failures: Failures;
  readonly signal: AbortSignal;
}

export interface HttpCall {
  readonly model: string | null;
  readonly call: Pick<WireCall, "path" | "query" | "headers"> & { readonly body?: JsonFields };
}

/** One HTTP call to a service: sends it and converts every failure at the HTTP level to a `ProviderError`. */
export class HttpExchange {
  /** What the service answered instead of a reply. */
  refusal: ServiceError | null = null;
  /** Bytes of the reply read so far. */
  bytes = 0;
  /** The first bytes of the reply as text, for messages. */
  head = "";
  readonly #facts: ExchangeFacts;
  readonly #asked: HttpCall;

  constructor(facts: ExchangeFacts, asked: HttpCall) {
    this.#facts = facts;
    this.#asked = asked;
  }

  /** Resolves once the headers of a reply are here. Yields its events as they arrive, several at a time, as JSON or
   * parsed; throws `RangeError` like `sse`. */
  async open(wire: ProviderApi): Promise<AsyncGenerator<readonly unknown[]>> {
    const response = await this.#send();
    return /\btext\/event-stream\b/i.test(typeOf(response)) ? sse(this.#read(response)) : this.#untyped(wire, response);
  }

  /** The JSON of a reply. */
  async json(): Promise<unknown> {
    const response = await this.#send();
    return await this.#json(this.#read(response), response.status);
  }

  /** The error for one that came within a reply. */
  refused(body: unknown): Error {
    return this.#refused({ ...said(body), headers: new Headers() });
  }

  async #send(): Promise<Response> {
    const { path, query, headers, body } = this.#asked.call;
    const isPost = body !== undefined;
    const init: RequestInit = {
      method: isPost ? "POST" : "GET",
      headers: {
        ...(isPost ? { "content-type": "application/json" } : {}),
        ...headers,
        ...this.#facts.endpoint.headers,
      },
      ...(isPost ? { body: JSON.stringify(body) } : {}),
      signal: this.#facts.signal,
      redirect: "manual",
    };
    const response = await this.#fetch(this.#facts.endpoint.url(path, query), init);
    const { status } = response;
    if (!response.ok) {
      const text = await this.#start(this.#read(response), MAX_ERROR_BYTES).catch(() => "");
      throw this.#refused({ ...said(text), status, headers: response.headers });
    }
    if (response.body === null) throw this.#facts.failures.empty(status);
    if (/\btext\/html\b/i.test(typeOf(response))) {
      await response.body.cancel();
      throw this.#facts.failures.webPage(status);
    }
    return response;
  }

  /** Follows redirects within the service only. Another service would receive the key, which the runtime removes from
   * `authorization` alone. */
  async #fetch(url: string, init: RequestInit): Promise<Response> {
    let at = url;
    for (let hops = 0;; hops++) {
      const response = await fetch(at, init).catch((error) => {
        throw this.#facts.signal.aborted ? error : this.#facts.failures.unreachable(error);
      });
      const { status } = response;
      const location = response.headers.get("location");
      if (status < 300 || status > 399 || location === null) return response;
      await response.body?.cancel();
      const to = URL.parse(location, at);
      const keepsMethod = init.method === "GET" || status === 307 || status === 308;
      if (to?.origin !== new URL(at).origin || !keepsMethod || hops >= MAX_REDIRECTS) {
        throw this.#facts.failures.redirected(status, to ? to.origin + to.pathname : location);
      }
      at = to.href;
    }
  }

  #refused(refusal: ServiceError): Error {
    this.refusal = refusal;
    return this.#facts.failures.refused(refusal, { model: this.#asked.model, path: this.#asked.call.path });
  }

  async #json(bytes: AsyncIterable<Uint8Array>, status: number): Promise<unknown> {
    const text = await this.#start(bytes, MAX_JSON_BYTES);
    if (this.bytes > MAX_JSON_BYTES) throw this.#facts.failures.tooLong(moreThan(MAX_JSON_BYTES));
    if (text.trim() === "") throw this.#facts.failures.empty(status);
    try {
      return readForeignJson(text);
    } catch {
      throw /^\s*(<!doctype|<html)/i.test(text)
        ? this.#facts.failures.webPage(status)
        : this.#facts.failures.unreadable(text);
    }
  }

  /** A body up to about `maxBytes`; if the call was aborted, what has arrived so far. */
  async #start(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of bytes) {
      text += decoder.decode(chunk, { stream: true });
      if (this.bytes > maxBytes) break;
    }
    return text + decoder.decode();
  }

  /** A reply that does not say that it is a stream: proxies and small servers send streams as JSON and JSON as text, so
   * its first character decides. No JSON begins like a line of a stream. */
  async *#untyped(wire: ProviderApi, response: Response): AsyncGenerator<readonly unknown[]> {
    const chunks = this.#read(response);
    const begin: Uint8Array[] = [];
    while (this.head.trim() === "" && this.head.length < MAX_HEAD) {
      const { done, value } = await chunks.next();
      if (done) break;
      begin.push(value);
    }
    const bytes = joined(begin, chunks);
    const isJson = JSON_TYPE.test(typeOf(response)) ? !/^\s*[:deir]/.test(this.head) : /^\s*[{[]/.test(this.head);
    if (isJson) yield this.#unstreamed(wire, await this.#json(bytes, response.status));
    else yield* sse(bytes);
  }

  #unstreamed(wire: ProviderApi, body: unknown): readonly unknown[] {
    if (isError(Array.isArray(body) ? body[0] : body)) throw this.refused(body);
    const events = wire.unstreamed(body);
    if (events === null) throw this.#facts.failures.unreadable(JSON.stringify(body));
    return events;
  }

  async *#read(response: Response): AsyncGenerator<Uint8Array> {
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    // The runtime does not end the body once its Response is garbage-collected, so it is ended here.
    const stop = () => void reader.cancel().catch(() => {});
    this.#facts.signal.addEventListener("abort", stop, { once: true });
    try {
      while (true) {
        const { done, value } = await reader.read().catch(() => {
          throw this.#facts.failures.cut();
        });
        if (done) return;
        this.bytes += value.byteLength;
        if (this.bytes > MAX_STREAM_BYTES) throw this.#facts.failures.tooLong(moreThan(MAX_STREAM_BYTES));
        if (this.head.length < MAX_HEAD) this.head += new TextDecoder().decode(value.subarray(0, MAX_HEAD));
        yield value;
      }
    } finally {
      this.#facts.signal.removeEventListener("abort", stop);
      stop();
    }
  }
}

function moreThan(bytes: number): string {
  return `it is larger than ${bytes / 1024 / 1024} MiB`;
}

function typeOf(response: Response): string {
  return response.headers.get("content-type") ?? "";
}

/** What was read ahead, and the rest. */
async function* joined(begin: readonly Uint8Array[], rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* begin;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

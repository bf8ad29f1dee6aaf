import type { IncomingMessage } from "node:http";
import { ProviderError } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/kit/addresses.ts";
import { readLaxJson } from "../../domain/kit/json.ts";
import type { Endpoint } from "./_endpoint.ts";
import { type Failures, isError, said, type ServiceError } from "./_failures.ts";
import type { JsonFields, ProviderApi, WireCall } from "./wire.ts";

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** A stream has a few hundred bytes per token, and services add pings. */
const MAX_STREAM_BYTES = 128 * 1024 * 1024;
const MAX_REDIRECTS = 3;
const MAX_HEAD = 400;
const WEB_PAGE = /^\s*(<!doctype|<html)/i;
/** Neither JSON nor an event stream begins with the first byte of gzip data. */
const GZIP = 0x1f;
const JSON_TYPE = /\bapplication\/(\w+\+)?json\b/i;

export interface Quirks {
  /** If true, the service declares a compression for uncompressed bodies, which the runtime cannot read. */
  namesCompression: boolean;
}

export interface ExchangeFacts {
  readonly endpoint: Endpoint;
  readonly failures: Failures;
  readonly signal: AbortSignal;
  readonly quirks: Quirks;
  readonly onBytes?: (() => void) | undefined;
}

interface HttpCall {
  readonly model: string | null;
  readonly call: Pick<WireCall, "path" | "query" | "headers"> & { readonly body?: JsonFields };
}

export class HttpExchange {
  refusal: ServiceError | null = null;
  bytes = 0;
  head = "";
  #sent: { readonly url: string; readonly init: RequestInit } = { url: "", init: {} };
  readonly #headText = new TextDecoder();
  readonly #facts: ExchangeFacts;
  readonly #asked: HttpCall;

  constructor(facts: ExchangeFacts, asked: HttpCall) {
    this.#facts = facts;
    this.#asked = asked;
  }

  /** Resolves when the headers of a reply have arrived. The generator throws `RangeError` for an event that is too
   * long. */
  async open(wire: ProviderApi): Promise<AsyncGenerator<readonly unknown[]>> {
    return this.#events(wire, await this.#send());
  }

  async json(): Promise<unknown> {
    const response = await this.#send();
    return await this.#json(this.#read(response), response.status);
  }

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
        // Compression delays the events of a stream, and some gateways declare a compression that they have undone.
        "accept-encoding": "identity",
        ...headers,
        ...this.#facts.endpoint.headers,
      },
      ...(isPost ? { body: JSON.stringify(body) } : {}),
      signal: this.#facts.signal,
      redirect: "manual",
    };
    this.#sent = { url: this.#facts.endpoint.url(path, query), init };
    const { namesCompression } = this.#facts.quirks;
    const response = namesCompression ? await this.#asSent() : await this.#fetch(this.#sent.url, init);
    const { status } = response;
    if (!response.ok) {
      const text = await this.#start(this.#read(response), MAX_ERROR_BYTES).catch(() => "");
      throw this.#refused({ ...said(text), status, isGuess: false, headers: response.headers });
    }
    if (response.body === null) throw this.#facts.failures.empty(status);
    return response;
  }

  /** At a redirect, the runtime keeps headers such as `x-api-key`, so another origin could receive a key. */
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
    return this.#parsed(await this.#start(bytes, MAX_JSON_BYTES), status);
  }

  #parsed(text: string, status: number): unknown {
    if (this.bytes > MAX_JSON_BYTES) throw this.#facts.failures.tooLong(moreThan(MAX_JSON_BYTES));
    if (text.trim() === "") throw this.#facts.failures.empty(status);
    try {
      return readLaxJson(text);
    } catch {
      throw WEB_PAGE.test(text) ? this.#facts.failures.webPage(status) : this.#facts.failures.unreadable(text);
    }
  }

  /** After an abort, may resolve with the text that had arrived. The text may exceed `maxBytes` by one chunk. */
  async #start(bytes: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of bytes) {
      text += decoder.decode(chunk, { stream: true });
      if (this.bytes > maxBytes) break;
    }
    return text + decoder.decode();
  }

  /** Servers may declare a wrong content type, so the first character of a reply helps to decide its form. */
  async *#events(wire: ProviderApi, response: Response): AsyncGenerator<readonly unknown[]> {
    const chunks = this.#read(response);
    const begin: Uint8Array[] = [];
    while (this.head.trim() === "" && this.head.length < MAX_HEAD) {
      const { done, value } = await chunks.next();
      if (done) break;
      begin.push(value);
    }
    const bytes = joined(begin, chunks);
    const type = response.headers.get("content-type") ?? "";
    const isStream = /^\s*[:deir]/.test(this.head);
    const isPage = WEB_PAGE.test(this.head) || /\btext\/html\b/i.test(type) && !isStream && !/^\s*[{[]/.test(this.head);
    if (isPage) {
      await bytes.return(undefined);
      throw this.#facts.failures.webPage(response.status);
    }
    const isJson = JSON_TYPE.test(type) ? !isStream : /^\s*[{[]/.test(this.head);
    if (!isJson) yield* sse(bytes);
    else if (/\bjson(l|lines)|ndjson|stream\+json\b/i.test(type)) yield* sse(bytes);
    else yield* this.#whole(wire, await this.#start(bytes, MAX_JSON_BYTES), response.status);
  }

  async *#whole(wire: ProviderApi, text: string, status: number): AsyncGenerator<readonly unknown[]> {
    const lines = text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== "");
    const areEvents = lines.length > 1 &&
      [lines[0], lines.at(-1)].every((line) => typeof eventJson(line ?? "") === "object");
    yield areEvents ? lines : this.#unstreamed(wire, this.#parsed(text, status));
  }

  #unstreamed(wire: ProviderApi, body: unknown): readonly unknown[] {
    if (isError(Array.isArray(body) ? body[0] : body)) throw this.refused(body);
    const events = wire.unstreamed(body);
    if (events === null) throw this.#facts.failures.unreadable(JSON.stringify(body));
    return events;
  }

  async *#read(response: Response): AsyncGenerator<Uint8Array> {
    const { body } = response;
    if (body === null) return;
    let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> = body.getReader();
    // The runtime does not end the body when it frees the Response, so the abort ends the body here.
    const stop = () => void reader.cancel().catch(() => {});
    this.#facts.signal.addEventListener("abort", stop, { once: true });
    try {
      while (true) {
        const { done, value } = await reader.read().catch(async (error: unknown) => {
          reader = await this.#begunAgain(error);
          return await reader.read();
        }).catch((error: unknown) => {
          throw error instanceof ProviderError ? error : this.#facts.failures.cut();
        });
        if (done) return;
        this.#facts.onBytes?.();
        if (this.bytes === 0 && value[0] === GZIP) {
          reader = unpacked(value, reader).getReader();
          continue;
        }
        this.bytes += value.byteLength;
        if (this.bytes > MAX_STREAM_BYTES) throw this.#facts.failures.tooLong(moreThan(MAX_STREAM_BYTES));
        if (this.head.length < MAX_HEAD) {
          this.head += this.#headText.decode(value.subarray(0, MAX_HEAD), { stream: true });
        }
        yield value;
      }
    } finally {
      this.#facts.signal.removeEventListener("abort", stop);
      stop();
    }
  }

  /** The runtime of the executable fails on an uncompressed body that declares a compression. If the server is on this
   * machine and uses plain HTTP, Vis repeats the HTTP request with another client. */
  async #begunAgain(error: unknown): Promise<ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>> {
    const { signal, failures, quirks } = this.#facts;
    const isUnpacking = /gzip|brotli|zlib|deflate|zstd/i.test(String(error));
    if (signal.aborted || this.bytes > 0 || quirks.namesCompression || !isUnpacking) throw failures.cut();
    const { protocol, hostname } = new URL(this.#sent.url);
    if (protocol !== "http:" || !isLoopback(hostname)) throw failures.notCompressed();
    quirks.namesCompression = true;
    const { body, ok } = await this.#asSent();
    if (body === null || !ok) throw failures.cut();
    return body.getReader();
  }

  /** `node:http` leaves the bytes of the body as they are. */
  async #asSent(): Promise<Response> {
    const { url, init } = this.#sent;
    const { request } = await import("node:http");
    const { method = "GET", headers, signal } = init;
    const options = { method, headers: Object.fromEntries(new Headers(headers)), ...(signal ? { signal } : {}) };
    const message = await new Promise<IncomingMessage>((resolve, reject) => {
      request(url, options, resolve).on("error", reject).end(init.body);
    }).catch((error: unknown) => {
      throw this.#facts.signal.aborted ? error : this.#facts.failures.unreachable(error);
    });
    const status = message.statusCode ?? 502;
    const hasBody = status !== 204 && status !== 205 && status !== 304;
    return new Response(hasBody ? ReadableStream.from<Uint8Array<ArrayBuffer>>(message) : null, {
      status,
      headers: { "content-type": message.headers["content-type"] ?? "" },
    });
  }
}

function moreThan(bytes: number): string {
  return `it is larger than ${bytes / 1024 / 1024} MiB`;
}

function unpacked(
  begin: Uint8Array<ArrayBuffer>,
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const all = async function* () {
    yield begin;
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  };
  return ReadableStream.from(all()).pipeThrough(new DecompressionStream("gzip"));
}

async function* joined(begin: readonly Uint8Array[], rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* begin;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

const MAX_EVENT = 8_000_000;

const FIELDS = new Set(["", "data", "event", "id", "retry", "error"]);

/** WHATWG HTML, 9.2.6, defines the format. The reader tolerates missing empty lines and bare JSON lines. */
export async function* sse(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly unknown[]> {
  const decoder = new TextDecoder();
  const lines = new Lines();
  const open = new OpenEvent();
  const take = (some: Iterable<string>) => [...some].flatMap((line) => open.add(line));
  for await (const chunk of bytes) {
    const events = take(lines.add(decoder.decode(chunk, { stream: true })));
    if (events.length > 0) yield events;
  }
  // Some servers omit the empty line after the last event.
  const events = take([...lines.rest(decoder.decode()), ""]);
  if (events.length > 0) yield events;
}

class OpenEvent {
  #data: string[] = [];
  #name = "";
  #length = 0;
  #isInString = false;

  add(line: string): readonly unknown[] {
    if (line === "") return this.#close();
    const isJson = line[0] === "{" || line[0] === "[";
    const colon = isJson ? -1 : line.indexOf(":");
    const field = isJson ? "data" : colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? (isJson ? line : "") : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    const ended = (field === "data" || field === "event") && this.#isWhole ? this.#close() : [];
    if (field === "data") this.#push(value);
    else if (field === "event") this.#name = value.trim();
    else if (field === "error" && value !== "") return [...this.#close(), errorIn(value)];
    else if (this.#isInString && !FIELDS.has(field)) this.#push(line);
    this.#length = checked(this.#length + line.length);
    return ended;
  }

  /** Complete JSON has no further lines, so the event can end without its empty line. */
  get #isWhole(): boolean {
    const [text = ""] = this.#data;
    if (this.#data.length !== 1) return false;
    return text.trim() === "[DONE]" || /^\s*[{[]/.test(text) && eventJson(text) !== undefined;
  }

  #push(line: string): void {
    this.#data.push(line);
    if (!/^\s*[{[]/.test(this.#data[0] ?? "")) return;
    for (const [token] of line.matchAll(/\\.|"/g)) if (token === '"') this.#isInString = !this.#isInString;
  }

  #close(): readonly unknown[] {
    const text = this.#data.join("\n");
    const last = this.#data.length > 1 ? eventJson(this.#data.at(-1) ?? "") : undefined;
    const events = this.#data.length === 0
      ? []
      // A gateway may write its error into an unfinished event.
      : isError(last) && eventJson(text) === undefined
      ? [last]
      : [this.#name === "error" ? errorIn(text) : text];
    this.#data = [];
    this.#name = "";
    this.#length = 0;
    this.#isInString = false;
    return events;
  }
}

export function eventJson(text: string): unknown {
  try {
    return readLaxJson(text);
  } catch {
    return undefined;
  }
}

function errorIn(text: string): unknown {
  const value = eventJson(text);
  return typeof value === "object" && value !== null && "error" in value ? value : { error: value ?? text };
}

function checked(length: number): number {
  if (length > MAX_EVENT) {
    throw new RangeError(`Cannot read an event: it has more than ${MAX_EVENT} characters, the limit`);
  }
  return length;
}

class Lines {
  #open: string[] = [];
  #length = 0;
  #afterReturn = false;

  *add(text: string): Generator<string> {
    let from = 0;
    for (const { index, 0: end } of text.matchAll(/\r\n|\r|\n/g)) {
      const isRestOfReturn = this.#afterReturn && index === 0 && end === "\n";
      this.#afterReturn = false;
      if (!isRestOfReturn) yield this.#close(text.slice(from, index));
      from = index + end.length;
    }
    if (text !== "") this.#afterReturn = text.endsWith("\r");
    if (from === text.length) return;
    this.#open.push(text.slice(from));
    this.#length += text.length - from;
    checked(this.#length);
  }

  *rest(text: string): Generator<string> {
    yield* this.add(text);
    if (this.#open.length > 0) yield this.#close("");
  }

  #close(text: string): string {
    const line = this.#open.join("") + text;
    this.#open = [];
    this.#length = 0;
    return line;
  }
}

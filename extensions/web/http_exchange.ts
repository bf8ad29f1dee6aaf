import { ByteBuffer, counted } from "@vis/extension";
import { Buffer } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { createUnzip } from "node:zlib";

export interface HttpRequest {
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array | null;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AsyncGenerator<Uint8Array<ArrayBuffer>>;
}

const MAX_LINE = 16 << 10, MAX_HEADERS = 200, MAX_HEAD = 64 << 10, MOST_INTERIM = 8;
const MAX_CHUNK_LINE = 256, PART = 64 << 10;
const WITHOUT_BODY = [204, 304];

export async function exchange(connection: Deno.Conn, request: HttpRequest): Promise<HttpAnswer> {
  // A server may respond before it has read the whole request, so Vis does not await the write first.
  const writing = writeAll(connection, request).then(() => null, (error: unknown) => error);
  const reader = new ByteReader(connection);
  try {
    let head = await readHead(reader);
    for (let interim = 0; head.status < 200; head = await readHead(reader)) {
      if (++interim > MOST_INTERIM || head.status === 101) {
        throw new Error(
          head.status === 101
            ? "The response switches the protocol"
            : `The response has more than ${MOST_INTERIM} interim responses, the limit`,
        );
      }
    }
    return { ...head, body: bodyOf(reader, head) };
  } catch (error) {
    const unsent = await Promise.race([writing, Promise.resolve(null)]);
    throw unsent ?? error;
  }
}

async function writeAll(connection: Deno.Conn, { method, url, headers, body }: HttpRequest): Promise<void> {
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  if (body || method === "POST") lines.push(`content-length: ${body?.length ?? 0}`);
  const head = new TextEncoder().encode([...lines, "connection: close", "", ""].join("\r\n"));
  for (const bytes of body ? [head, body] : [head]) {
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  }
}

async function readHead(reader: ByteReader): Promise<Pick<HttpAnswer, "status" | "headers">> {
  const first = await reader.line(MAX_LINE);
  const [, status] = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first) ?? [];
  if (status === undefined) {
    throw new Error(`The response is not HTTP/1.1: it begins with ${JSON.stringify(first.slice(0, 60))}`);
  }
  const headers = new Map<string, string>();
  let size = 0;
  for (let count = 0;; count++) {
    const line = await reader.line(MAX_LINE);
    if (line === "") return { status: Number(status), headers };
    size += line.length;
    if (count >= MAX_HEADERS) throw new RangeError(`The response has more than ${MAX_HEADERS} headers, the limit`);
    if (size > MAX_HEAD) {
      throw new RangeError(`The headers of the response have more than ${MAX_HEAD} characters, the limit`);
    }
    const [, name, value = ""] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*(.*)$/.exec(line) ?? [];
    if (name === undefined) throw new Error(`The response has the invalid header ${JSON.stringify(line.slice(0, 60))}`);
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value.trimEnd() : `${before}, ${value.trimEnd()}`);
  }
}

function bodyOf(reader: ByteReader, { status, headers }: Pick<HttpAnswer, "status" | "headers">): HttpAnswer["body"] {
  const coding = headers.get("transfer-encoding")?.toLowerCase();
  const length = headers.get("content-length");
  if (WITHOUT_BODY.includes(status)) return measured(reader, 0);
  if (coding === "chunked") return chunked(reader);
  if (coding !== undefined) throw new Error(`The response has the unknown transfer encoding ${coding.slice(0, 40)}`);
  if (length === undefined) return measured(reader, null);
  if (!/^\d{1,15}$/.test(length)) {
    throw new Error(`The response has the length ${length.slice(0, 40)}, which is not a number of at most 15 digits`);
  }
  return measured(reader, Number(length));
}

async function* measured(reader: ByteReader, length: number | null): HttpAnswer["body"] {
  for (let left = length ?? Infinity; left > 0;) {
    const part = await reader.some(Math.min(left, PART));
    if (part === null && length === null) return;
    if (part === null) throw new Error(`The response ended ${counted(left, "byte")} early`);
    left -= part.length;
    yield part;
  }
}

async function* chunked(reader: ByteReader): HttpAnswer["body"] {
  for (;;) {
    const line = await reader.line(MAX_CHUNK_LINE);
    const [, size] = /^([\da-f]{1,8})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
    if (size === undefined) {
      throw new Error(`The response has a chunk without a length: ${JSON.stringify(line.slice(0, 60))}`);
    }
    const length = parseInt(size, 16);
    if (length === 0) return;
    yield* measured(reader, length);
    if (await reader.line(MAX_CHUNK_LINE) !== "") {
      throw new Error(`The response has a chunk with the wrong length ${length}`);
    }
  }
}

export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly truncated: boolean;
}

/** The limit applies to the decompressed body, so that a small response cannot fill the memory. */
export async function readResponseBody(
  { headers, body }: HttpAnswer,
  { maxBytes }: { readonly maxBytes: number },
): Promise<Body> {
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return await collect(body, maxBytes);
  if (!["gzip", "x-gzip", "deflate"].includes(coding)) {
    throw new Error(`The response is encoded as ${coding.slice(0, 40)}, which Vis did not request`);
  }
  const first = await body.next();
  // A compressed empty body may have no bytes at all.
  if (first.done) return { bytes: new Uint8Array(), truncated: false };
  const unzip = createUnzip({ chunkSize: 64 << 10 });
  pipeline(Readable.from(after(first.value, body)), unzip, () => {});
  return await collect(unzip, maxBytes);
}

async function* after(first: Uint8Array, rest: HttpAnswer["body"]): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

async function collect(parts: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Body> {
  const whole = new ByteBuffer();
  for await (const part of parts) {
    const taken = part.subarray(0, maxBytes - whole.length);
    whole.push(taken);
    if (taken.length < part.length) return { bytes: whole.bytes.slice(), truncated: true };
  }
  return { bytes: whole.bytes.slice(), truncated: false };
}

const CHUNK = 16 << 10;

class ByteReader {
  readonly #source: { read(into: Uint8Array): Promise<number | null> };
  #left: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(source: { read(into: Uint8Array): Promise<number | null> }) {
    this.#source = source;
  }

  async line(most: number): Promise<string> {
    let line: Uint8Array = new Uint8Array();
    for (;;) {
      const end = this.#left.indexOf(10);
      const part = end < 0 ? this.#left : this.#left.subarray(0, end);
      if (line.length + part.length > most) {
        throw new RangeError(`A line of the response is longer than ${most} bytes, the limit`);
      }
      line = Buffer.concat([line, part]);
      if (end >= 0) {
        this.#left = this.#left.subarray(end + 1);
        return String.fromCharCode(...(line.at(-1) === 13 ? line.subarray(0, -1) : line));
      }
      if (!await this.#fill()) throw new Error("The response ended in the middle of a line");
    }
  }

  async some(most: number): Promise<Uint8Array<ArrayBuffer> | null> {
    if (this.#left.length === 0 && !await this.#fill()) return null;
    const part = this.#left.subarray(0, most);
    this.#left = this.#left.subarray(part.length);
    return part;
  }

  async #fill(): Promise<boolean> {
    const buffer = new Uint8Array(CHUNK);
    const length = await this.#source.read(buffer);
    this.#left = buffer.subarray(0, length ?? 0);
    return length !== null && length > 0;
  }
}

import { advisedFacts, setErrorFacts } from "../realm/captured.ts";

export class RealmBody {
  readonly headers: RealmHeaders;
  readonly #body: RealmBlob | null;
  #used = false;

  constructor(body: unknown, headers: RealmHeaders) {
    this.headers = headers;
    this.#body = body === undefined || body === null ? null : blobOf(body);
    if (this.#body?.type && !headers.has("content-type")) headers.set("content-type", this.#body.type);
  }

  get bodyUsed(): boolean {
    return this.#used;
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return this.#take().bytes();
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#take().arrayBuffer();
  }

  text(): Promise<string> {
    return this.#take().text();
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text());
  }

  async blob(): Promise<RealmBlob> {
    return new RealmBlob([await this.bytes()], { type: this.headers.get("content-type") ?? "" });
  }

  static peek(of: RealmBody): RealmBlob | null {
    if (of.#used) throw refused("Cannot read the body: it was read before", "keep its value");
    return of.#body;
  }

  #take(): RealmBlob {
    const body = RealmBody.peek(this) ?? new RealmBlob();
    this.#used = true;
    return body;
  }
}

function blobOf(body: unknown): RealmBlob {
  if (body instanceof RealmBlob) return body;
  if (body instanceof RealmForm) return body.encode(`vis-${crypto.randomUUID()}`);
  if (body instanceof URLSearchParams) {
    return new RealmBlob([body.toString()], { type: "application/x-www-form-urlencoded;charset=utf-8" });
  }
  if (body instanceof ArrayBuffer || ArrayBuffer.isView(body)) return new RealmBlob([body]);
  return new RealmBlob([String(body)], { type: "text/plain;charset=utf-8" });
}

export interface RealmSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void): void;
}

export interface RequestInput {
  readonly method?: string;
  readonly headers?: HeadersInput;
  readonly body?: unknown;
  readonly redirect?: string;
  readonly signal?: RealmSignal;
}

export class RealmRequest extends RealmBody {
  readonly url: string;
  readonly method: string;
  readonly redirect: string;
  readonly signal: RealmSignal | null;

  constructor(input: unknown, init: RequestInput = {}) {
    const from = input instanceof RealmRequest ? input : null;
    const body = init.body ?? (from ? RealmBody.peek(from) : null);
    super(body, new RealmHeaders(init.headers ?? from?.headers));
    const url = new URL(from ? from.url : String(input));
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      throw new TypeError(`Cannot fetch ${url}: its protocol must be http or https`);
    }
    this.url = url.href;
    this.method = String(init.method ?? from?.method ?? "GET").toUpperCase();
    this.redirect = String(init.redirect ?? from?.redirect ?? "follow");
    this.signal = init.signal ?? from?.signal ?? null;
    if (body !== null && /^(?:GET|HEAD)$/.test(this.method)) {
      throw refused(`Cannot send a body with ${this.method}: this method takes no body`, "use POST or PUT");
    }
  }

  clone(): RealmRequest {
    return new RealmRequest(this);
  }
}

interface ResponseInput {
  readonly status?: number;
  readonly statusText?: string;
  readonly headers?: HeadersInput;
  readonly url?: string;
  readonly redirected?: boolean;
}

export class RealmResponse extends RealmBody {
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly redirected: boolean;

  constructor(body?: unknown, init: ResponseInput = {}) {
    super(body, new RealmHeaders(init.headers));
    this.status = init.status ?? 200;
    this.statusText = init.statusText ?? "";
    this.url = init.url ?? "";
    this.redirected = init.redirected ?? false;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  clone(): RealmResponse {
    return new RealmResponse(RealmBody.peek(this), this);
  }

  static json(value: unknown, init: ResponseInput = {}): RealmResponse {
    const headers = new RealmHeaders(init.headers);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
    return new RealmResponse(JSON.stringify(value), { ...init, headers });
  }
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A line break would start another header. */
const VALUE = /^[^\0\r\n]*$/;

type HeadersInput = RealmHeaders | Iterable<readonly [string, string]> | Readonly<Record<string, unknown>>;

export class RealmHeaders {
  readonly #values = new Map<string, string>();

  constructor(init?: HeadersInput) {
    if (init === undefined || init === null) return;
    const pairs = Symbol.iterator in init ? init as Iterable<readonly [string, string]> : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }

  append(name: string, value: unknown): void {
    const old = this.get(name);
    this.set(name, old === null ? value : `${old}, ${String(value).trim()}`);
  }

  set(name: string, value: unknown): void {
    const text = String(value).trim();
    if (!NAME.test(String(name))) throw new TypeError(`Cannot set a header: "${name}" is not a valid name`);
    if (!VALUE.test(text)) throw new TypeError(`Cannot set header ${name}: its value contains a line end or NUL`);
    this.#values.set(String(name).toLowerCase(), text);
  }

  get(name: string): string | null {
    return this.#values.get(String(name).toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  delete(name: string): void {
    this.#values.delete(String(name).toLowerCase());
  }

  forEach(f: (value: string, name: string, headers: RealmHeaders) => unknown): void {
    for (const [name, value] of this) f(value, name, this);
  }

  entries(): IterableIterator<[string, string]> {
    return [...this.#values].sort(([a], [b]) => a < b ? -1 : 1)[Symbol.iterator]();
  }

  *keys(): IterableIterator<string> {
    for (const [name] of this) yield name;
  }

  *values(): IterableIterator<string> {
    for (const [, value] of this) yield value;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

interface Field {
  readonly name: string;
  readonly value: string | RealmBlob;
  readonly file: string;
}

export class RealmForm {
  #fields: Field[] = [];

  append(...[name, value, file = "blob"]: readonly [name: string, value: unknown, file?: string]): void {
    const kept = value instanceof RealmBlob ? value : String(value);
    this.#fields.push({ name: String(name), value: kept, file: String(file) });
  }

  set(...[name, value, file]: readonly [name: string, value: unknown, file?: string]): void {
    this.delete(name);
    this.append(name, value, file);
  }

  get(name: string): string | RealmBlob | null {
    return this.getAll(name)[0] ?? null;
  }

  getAll(name: string): (string | RealmBlob)[] {
    return this.#fields.filter((field) => field.name === name).map(({ value }) => value);
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  delete(name: string): void {
    this.#fields = this.#fields.filter((field) => field.name !== name);
  }

  *entries(): IterableIterator<[string, string | RealmBlob]> {
    for (const { name, value } of this.#fields) yield [name, value];
  }

  [Symbol.iterator](): IterableIterator<[string, string | RealmBlob]> {
    return this.entries();
  }

  encode(boundary: string): RealmBlob {
    const quoted = (text: string): string =>
      text.replace(/[\r\n"]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
    const parts = this.#fields.flatMap(({ name, value, file }) => {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
      if (typeof value === "string") return [`${head}\r\n\r\n${value}\r\n`];
      const type = value.type || "application/octet-stream";
      return [`${head}; filename="${quoted(file)}"\r\nContent-Type: ${type}\r\n\r\n`, value, "\r\n"];
    });
    return new RealmBlob([...parts, `--${boundary}--\r\n`], { type: `multipart/form-data; boundary=${boundary}` });
  }
}

type BlobPart = string | ArrayBuffer | ArrayBufferView | RealmBlob;

export class RealmBlob {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;

  constructor(parts: Iterable<BlobPart> = [], { type = "" }: { readonly type?: string } = {}) {
    const pieces = [...parts].map(bytesOf);
    this.#bytes = new Uint8Array(pieces.reduce((size, { length }) => size + length, 0));
    let at = 0;
    for (const piece of pieces) {
      this.#bytes.set(piece, at);
      at += piece.length;
    }
    this.type = String(type).toLowerCase();
  }

  get size(): number {
    return this.#bytes.length;
  }

  slice(...[from, to, type = ""]: readonly [from?: number, to?: number, type?: string]): RealmBlob {
    return new RealmBlob([this.#bytes.slice(from, to)], { type });
  }

  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    return Promise.resolve(this.#bytes.slice());
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.resolve(this.#bytes.slice().buffer);
  }

  text(): Promise<string> {
    return Promise.resolve(new TextDecoder().decode(this.#bytes));
  }

  static read(blob: RealmBlob): Uint8Array<ArrayBuffer> {
    return blob.#bytes;
  }
}

function bytesOf(part: BlobPart): Uint8Array<ArrayBuffer> {
  if (part instanceof RealmBlob) return RealmBlob.read(part);
  if (part instanceof ArrayBuffer) return new Uint8Array(part.slice(0));
  if (ArrayBuffer.isView(part)) {
    return new Uint8Array(part.buffer, part.byteOffset, part.byteLength).slice() as Uint8Array<ArrayBuffer>;
  }
  return new TextEncoder().encode(String(part));
}

export function refused(message: string, advice: string): Error {
  return setErrorFacts(new TypeError(), advisedFacts("TypeError", message, advice));
}

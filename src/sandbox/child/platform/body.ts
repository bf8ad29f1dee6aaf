import { RealmBlob } from "./blob.ts";
import { RealmForm } from "./form.ts";
import type { RealmHeaders } from "./headers.ts";

/** What Request and Response of the realm share: a complete body that can be read once. */
export class RealmBody {
  readonly headers: RealmHeaders;
  readonly #body: RealmBlob | null;
  #used = false;

  /** Sets the content type in `headers`, if it is known and they have none. */
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

  /** For a copy or for sending; does not consume the body. */
  static peek(of: RealmBody): RealmBlob | null {
    if (of.#used) throw new TypeError("Cannot read a body twice");
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

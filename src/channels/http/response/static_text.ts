import { entityTag, namesTag } from "./entity_tag.ts";

/** A text that does not change while the process runs. */
export class StaticText {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  readonly #headers: Readonly<Record<"content-type" | "cache-control" | "etag", string>>;

  constructor(text: string, type: string) {
    this.#bytes = new TextEncoder().encode(text);
    this.#headers = { "content-type": type, "cache-control": "no-cache", etag: entityTag(text) };
  }

  /** 304 if the client already has it. */
  answer(request: Request): Response {
    const known = request.headers.get("if-none-match") ?? "";
    const isKnown = namesTag(known, this.#headers.etag, { weak: true });
    return isKnown
      ? new Response(null, { status: 304, headers: this.#headers })
      : new Response(this.#bytes, { headers: { ...this.#headers, "content-length": String(this.#bytes.length) } });
  }
}

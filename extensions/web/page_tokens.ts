import { Tokenizer } from "htmlparser2";
import { setImmediate } from "node:timers";

export interface PageHandler {
  open(name: string, attributes: ReadonlyMap<string, string>): void;
  close(name: string): void;
  text(text: string): void;
}

const SLICE = 32 << 10, SLICE_MS = 6;
const MAX_VALUE = 8_000, MAX_ATTRIBUTES = 100;

/** The library's own parser would take quadratic time in the depth of a page. */
export async function readTokens(
  page: string,
  handler: PageHandler,
  { signal }: { readonly signal: AbortSignal | undefined },
): Promise<void> {
  const tokenizer = new Tokenizer({ decodeEntities: true }, new Callbacks(page, handler));
  let since = performance.now();
  for (let at = 0; at < page.length; at += SLICE) {
    if (performance.now() - since > SLICE_MS) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      since = performance.now();
    }
    tokenizer.write(page.slice(at, at + SLICE));
  }
  tokenizer.end();
}

class Callbacks {
  readonly #page: string;
  readonly #handler: PageHandler;
  #name = "";
  #attributes = new Map<string, string>();
  #attribute = "";
  #value = "";

  constructor(page: string, handler: PageHandler) {
    this.#page = page;
    this.#handler = handler;
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#slice(start, end).toLowerCase();
    this.#attributes = new Map();
  }
  onattribname(start: number, end: number): void {
    this.#attribute = this.#slice(start, end).toLowerCase();
    this.#value = "";
  }
  onattribdata(start: number, end: number): void {
    if (this.#value.length < MAX_VALUE) this.#value += this.#slice(start, end);
  }
  onattribentity(code: number): void {
    if (this.#value.length < MAX_VALUE) this.#value += String.fromCodePoint(code);
  }
  onattribend(): void {
    const known = this.#attributes.has(this.#attribute) || this.#attributes.size >= MAX_ATTRIBUTES;
    if (!known) this.#attributes.set(this.#attribute, this.#value.slice(0, MAX_VALUE));
  }
  onopentagend(): void {
    this.#handler.open(this.#name, this.#attributes);
  }
  onselfclosingtag(): void {
    this.#handler.open(this.#name, this.#attributes);
    if (this.#name === "svg" || this.#name === "math") this.#handler.close(this.#name);
  }
  onclosetag(start: number, end: number): void {
    this.#handler.close(this.#slice(start, end).toLowerCase());
  }
  ontext(start: number, end: number): void {
    this.#handler.text(this.#slice(start, end));
  }
  ontextentity(code: number): void {
    this.#handler.text(String.fromCodePoint(code));
  }
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #slice(start: number, end: number): string {
    return this.#page.slice(start, end);
  }
}

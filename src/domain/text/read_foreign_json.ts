/** What JSON of others may have; more takes many times the memory of its text, and deeper ends the stack of readers. */
export interface JsonLimits {
  readonly values: number;
  readonly depth: number;
}

export const JSON_LIMITS: JsonLimits = { values: 1_000_000, depth: 500 };

const QUOTE = 34, COMMA = 44, BACKSLASH = 92, ARRAY = 91, ARRAY_END = 93, OBJECT = 123, OBJECT_END = 125;

/** JSON exceeds a limit; `what` says which. */
export class JsonTooLarge extends RangeError {
  override readonly name = "JsonTooLarge";
  constructor(readonly limit: "values" | "depth", readonly what: string) {
    super(`Cannot read the JSON: ${what}`);
  }
}

/** Counts the values and levels of JSON that arrives in pieces, before it is parsed. Any text is accepted. */
export class JsonMeter {
  readonly #limits: JsonLimits;
  #depth = 0;
  #values = 0;
  #inText = false;
  #escaped = false;

  constructor(limits: JsonLimits = JSON_LIMITS) {
    this.#limits = limits;
  }

  /** Another text begins. */
  restart(): void {
    this.#depth = this.#values = 0;
    this.#inText = this.#escaped = false;
  }

  /** Throws JsonTooLarge. */
  push(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (code === QUOTE) this.#inText = !this.#inText;
      else if (this.#inText) this.#escaped = code === BACKSLASH;
      else if (code === COMMA) this.#count();
      else if (code === ARRAY || code === OBJECT) this.#enter();
      else if (code === ARRAY_END || code === OBJECT_END) this.#depth--;
    }
  }

  #enter(): void {
    const { depth } = this.#limits;
    if (++this.#depth > depth) throw new JsonTooLarge("depth", `it is deeper than ${depth} levels`);
    this.#count();
  }

  #count(): void {
    const { values } = this.#limits;
    if (++this.#values > values) throw new JsonTooLarge("values", `it has more than ${values} values`);
  }
}

/** Parses JSON that somebody else wrote. Throws JsonTooLarge before anything is built from it, else as JSON.parse. */
export function readForeignJson(text: string, limits: JsonLimits = JSON_LIMITS): unknown {
  // Every value but the first follows one of these characters, so that short texts need no count.
  if (text.length > Math.min(limits.depth, limits.values)) new JsonMeter(limits).push(text);
  return JSON.parse(text);
}

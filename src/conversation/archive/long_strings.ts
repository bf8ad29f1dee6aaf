import { Buffer } from "node:buffer";

const QUOTE = 34, BACKSLASH = 92;
/** Longer string literals are kept in a file. */
const LONG_BYTES = 16 * 1024;
const READ_BYTES = 64 * 1024;
const DIGITS = 16;

/** JSON whose long strings are in a file without a name; each is represented by a short string that nobody can guess. */
export class LongStrings implements Disposable {
  /** Also valid base64. */
  readonly #token = crypto.randomUUID().replaceAll("-", "");
  readonly #kept: Uint8Array[] = [];
  #file: Deno.FsFile | null = null;
  #fileBytes = 0;

  /** Reads JSON. Any bytes are accepted; those outside of long strings are then `text`. */
  static async of(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<LongStrings> {
    const strings = new LongStrings();
    try {
      await strings.#read(source);
    } catch (error) {
      strings[Symbol.dispose]();
      throw error;
    }
    return strings;
  }

  /** The JSON with short strings. Throws `TypeError` if it is not UTF-8. */
  get text(): string {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    return this.#kept.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  }

  /** The string that one in the JSON stands for, in pieces. Throws `SyntaxError` and `TypeError` for a bad one. */
  *pieces(string: string): Generator<string> {
    const place = this.#placeOf(string);
    if (place === null) return yield string;
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    let text = "";
    for (const piece of this.#raw(place)) {
      text += decoder.decode(piece, { stream: true });
      const end = endOfWhole(text);
      yield parsed(text.slice(0, end));
      text = text.slice(end);
    }
    yield parsed(text + decoder.decode());
  }

  /** A value of the JSON with every string in full. */
  whole<T>(value: T): T {
    if (typeof value === "string") return [...this.pieces(value)].join("") as T;
    if (Array.isArray(value)) return value.map((one) => this.whole(one)) as T;
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.whole(one)])) as T;
  }

  [Symbol.dispose](): void {
    this.#file?.close();
    this.#file = null;
  }

  async #read(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    let held: Uint8Array[] = [];
    let length = 0, from = -1, inString = false, escaped = false;
    const add = async (piece: Uint8Array): Promise<void> => {
      if (from < 0) {
        held.push(piece);
        length += piece.length;
        if (length <= LONG_BYTES) return;
        from = this.#fileBytes;
        for (const one of held) await this.#write(one);
        held = [];
      } else await this.#write(piece);
    };
    for await (const block of source) {
      for (let at = 0; at < block.length;) {
        if (!inString) {
          const quote = block.indexOf(QUOTE, at);
          const end = quote < 0 ? block.length : quote + 1;
          this.#kept.push(block.slice(at, end));
          inString = quote >= 0;
          at = end;
          continue;
        }
        let end = at;
        for (; end < block.length; end++) {
          const byte = block[end];
          if (escaped) escaped = false;
          else if (byte === BACKSLASH) escaped = true;
          else if (byte === QUOTE) break;
        }
        await add(block.slice(at, end));
        at = end;
        if (end === block.length) continue;
        const digits = (n: number) => String(n).padStart(DIGITS, "0");
        if (from < 0) this.#kept.push(...held);
        else this.#kept.push(Buffer.from(`${this.#token}${digits(from)}${digits(this.#fileBytes - from)}`));
        this.#kept.push(new Uint8Array([QUOTE]));
        held = [];
        length = 0;
        from = -1;
        inString = false;
        at++;
      }
    }
    // A string without an end is no JSON either way.
    this.#kept.push(...held);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    this.#file ??= await unnamedFile();
    for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
    this.#fileBytes += bytes.length;
  }

  #placeOf(string: string): { readonly from: number; readonly length: number } | null {
    const { length } = this.#token;
    if (string.length !== length + 2 * DIGITS || !string.startsWith(this.#token)) return null;
    return { from: Number(string.slice(length, length + DIGITS)), length: Number(string.slice(length + DIGITS)) };
  }

  *#raw({ from, length }: { readonly from: number; readonly length: number }): Generator<Uint8Array> {
    for (let at = 0; at < length;) {
      const bytes = new Uint8Array(Math.min(READ_BYTES, length - at));
      this.#file?.seekSync(from + at, Deno.SeekMode.Start);
      const read = this.#file?.readSync(bytes) ?? 0;
      if (read === 0) throw new Error("Cannot read archive: its temporary file is shorter than what was written");
      at += read;
      yield bytes.subarray(0, read);
    }
  }
}

function parsed(text: string): string {
  return JSON.parse(`"${text}"`);
}

/** Where the last complete character of a JSON string ends, so that no escape and no pair of surrogates is cut. */
function endOfWhole(text: string): number {
  for (let at = 0;;) {
    const next = text.indexOf("\\", at);
    if (next < 0) break;
    const length = text[next + 1] === "u" ? 6 : 2;
    const isHigh = length === 6 && /^\\u[dD][89abAB]/.test(text.slice(next, next + 4));
    if (next + length > text.length || (isHigh && next + 12 > text.length)) return next;
    at = next + length;
  }
  return /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
}

/** No file is left, whatever happens to the process. */
export async function unnamedFile(): Promise<Deno.FsFile> {
  const path = await Deno.makeTempFile({ prefix: "vis-export-" });
  const file = await Deno.open(path, { read: true, write: true });
  await Deno.remove(path).catch(() => {}); // Windows keeps the name of an open file
  return file;
}

import { Buffer, isUtf8 } from "node:buffer";
import { ByteBuffer, counted, decodeText, type EnvironmentView } from "@vis/extension";

const NEWLINE = 10;

/** The reader drops the rest of a longer record, which bounds the memory. */
const MAX_RECORD = 256 << 10;

export class RecordReader {
  readonly #take: (record: string, bytes: Uint8Array) => void;
  readonly #record = new ByteBuffer();
  #separator: number;

  constructor(
    take: (record: string, bytes: Uint8Array) => void,
    { separator = NEWLINE }: { readonly separator?: number } = {},
  ) {
    this.#take = take;
    this.#separator = separator;
  }

  endWith(separator: number): void {
    this.#separator = separator;
  }

  push(chunk: Uint8Array): void {
    let rest = chunk;
    for (let at = rest.indexOf(this.#separator); at >= 0; at = rest.indexOf(this.#separator)) {
      this.#add(rest.subarray(0, at));
      rest = rest.subarray(at + 1);
      this.#flush();
    }
    this.#add(rest);
  }

  end(): void {
    if (this.#record.length > 0) this.#flush();
  }

  #add(bytes: Uint8Array): void {
    this.#record.push(bytes.subarray(0, MAX_RECORD - this.#record.length));
  }

  #flush(): void {
    const { bytes } = this.#record;
    this.#record.clear();
    this.#take(new TextDecoder().decode(bytes), bytes);
  }
}

const ZERO = 0x30;

const MOST_CHARS = 1_000, MOST_BYTES = 4_096;

const MOST_NAMED = 3;

export interface KeptLine {
  readonly text: string;
  readonly isCut: boolean;
}

export function fileText(bytes: Uint8Array): { readonly text: string; readonly guess: string | null } | null {
  const decoded = decodeText(bytes);
  return decoded && { text: decoded.text, guess: decoded.isGuess ? decoded.encoding : null };
}

export function wholeCharacters(bytes: Uint8Array): Uint8Array {
  const last = bytes.findLastIndex((byte) => byte < ZERO);
  return last < 0 ? bytes : bytes.subarray(0, last + 1);
}

export class FileLines {
  readonly #raw: { readonly bytes: Uint8Array; readonly set: (line: KeptLine) => void; readonly isCut: boolean }[] = [];

  add(line: Uint8Array, set: (line: KeptLine) => void): void {
    set(keptLine(new TextDecoder("utf-8", { ignoreBOM: true }).decode(line)));
    if (!isUtf8(line)) this.#raw.push({ bytes: line.slice(0, MOST_BYTES), set, isCut: line.length > MOST_BYTES });
  }

  decode(): string | null {
    const parts = this.#raw.map(({ bytes, isCut }) => isCut ? wholeCharacters(bytes) : bytes);
    const guess = fileText(Buffer.concat(parts.flatMap((part) => [part, Uint8Array.of(NEWLINE)])))?.guess ?? null;
    if (guess === null) return null;
    for (const { bytes, set, isCut } of this.#raw) set(keptLine(new TextDecoder(guess).decode(bytes), { isCut }));
    return guess;
  }
}

function keptLine(text: string, { isCut = false } = {}): KeptLine {
  return isCut || text.length > MOST_CHARS
    ? { text: `${text.slice(0, MOST_CHARS)}…`, isCut: true }
    : { text, isCut: false };
}

export function noteGuesses(env: EnvironmentView, guesses: readonly (readonly [path: string, guess: string])[]): void {
  if (guesses.length === 0) return;
  const named = guesses.slice(0, MOST_NAMED).map(([path, guess]) => `${path} (${guess})`);
  const rest = guesses.length - named.length;
  env.note?.(`Vis guessed the encoding of ${named.join(", ")}${rest > 0 ? ` and ${counted(rest, "more file")}` : ""}`);
}

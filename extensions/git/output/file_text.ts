import { decodeText, type EnvironmentView } from "@vis/extension";
import { Buffer, isUtf8 } from "node:buffer";

const NEWLINE = 10, ZERO = 0x30;
/** More of a line is left out; so many characters have at most so many bytes. */
const MOST_CHARS = 1_000, MOST_BYTES = 4_096;
const MOST_NAMED = 3;

/** A line, or its beginning. */
export interface KeptLine {
  readonly text: string;
  readonly isCut: boolean;
}

/** The text of a file, or of its beginning, in the encoding that its bytes show. Null if it is binary. */
export function fileText(bytes: Uint8Array): { readonly text: string; readonly guess: string | null } | null {
  const decoded = decodeText(bytes);
  return decoded && { text: decoded.text, guess: decoded.isGuess ? decoded.encoding : null };
}

/** The longest beginning that ends with a whole character in every encoding, if there is one: bytes below the digits are
 * no part of another character. */
export function wholeCharacters(bytes: Uint8Array): Uint8Array {
  const last = bytes.findLastIndex((byte) => byte < ZERO);
  return last < 0 ? bytes : bytes.subarray(0, last + 1);
}

/** Lines of one file. Those that are not UTF-8 show its encoding together. */
export class FileLines {
  readonly #raw: { readonly bytes: Uint8Array; readonly set: (line: KeptLine) => void; readonly isCut: boolean }[] = [];

  /** Calls `set` with what is kept of the line, and again once its encoding was guessed. */
  add(line: Uint8Array, set: (line: KeptLine) => void): void {
    set(keptLine(new TextDecoder("utf-8", { ignoreBOM: true }).decode(line)));
    if (!isUtf8(line)) this.#raw.push({ bytes: line.slice(0, MOST_BYTES), set, isCut: line.length > MOST_BYTES });
  }

  /** Sets the texts of these lines if their encoding can be guessed, and returns it; else null. */
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

/** Tells the model which texts were guessed. */
export function noteGuesses(env: EnvironmentView, guesses: readonly (readonly [path: string, guess: string])[]): void {
  if (guesses.length === 0) return;
  const named = guesses.slice(0, MOST_NAMED).map(([path, guess]) => `${path} is read as ${guess}`);
  const rest = guesses.length - named.length;
  env.note?.(`${named.join(", ")}${rest > 0 ? `, ${rest} more in other encodings` : ""}: a guess`);
}

import { ByteBuffer, joinBytes } from "../domain/kit/bytes.ts";
import { decodeText } from "../domain/kit/encoding.ts";
import type { Spawned } from "../extension/spawned.ts";

/** Keeps the beginning and the end of an output and counts what is between, so that memory use is bounded. */
export class CappedOutput {
  readonly #half: number;
  readonly #head = new ByteBuffer();
  readonly #tail = new ByteBuffer();
  #dropped = 0;

  constructor(maxBytes: number) {
    this.#half = Math.max(1, Math.floor(maxBytes / 2));
  }

  /** Copies the bytes. */
  push(chunk: Uint8Array): void {
    const room = Math.min(this.#half - this.#head.length, chunk.length);
    this.#head.push(chunk.subarray(0, room));
    const rest = chunk.subarray(room);
    this.#dropped += Math.max(0, rest.length - this.#half);
    this.#tail.push(rest.subarray(-this.#half));
    // Small chunks are dropped in batches.
    if (this.#tail.length > 2 * this.#half) this.#trim();
  }

  get truncated(): boolean {
    return this.#dropped > 0 || this.#tail.length > this.#half;
  }

  /** Invalid UTF-8 and characters that were cut become U+FFFD. */
  text(): string {
    return new TextDecoder().decode(this.bytes());
  }

  /** With a line in place of what was left out. */
  bytes(): Uint8Array<ArrayBuffer> {
    this.#trim();
    const gap = this.#dropped > 0
      ? new TextEncoder().encode(`\n[${this.#dropped} bytes left out]\n`)
      : new Uint8Array();
    return joinBytes([this.#head.bytes, gap, this.#tail.bytes]);
  }

  #trim(): void {
    this.#dropped += Math.max(0, this.#tail.length - this.#half);
    this.#tail.keepLast(this.#half);
  }
}

/** What the result of a program has of its outputs. An encoding is guessed only for all that a program wrote before it
 * ended by itself: more of an output could show another one. */
export function outputsOf(
  outputs: Readonly<Record<"stdout" | "stderr", CappedOutput>>,
  { guess, wasEnded }: { readonly guess: boolean; /** Not by itself. */ readonly wasEnded: boolean },
): Pick<Spawned, "stdout" | "stderr" | "truncated" | "notes"> {
  const notes: string[] = [];
  const read = (name: "stdout" | "stderr"): string => {
    const output = outputs[name];
    const decoded = !guess || wasEnded || output.truncated ? null : decodeText(output.bytes());
    if (decoded === null || decoded.encoding === "utf-8") return output.text();
    notes.push(`${name} is read as ${decoded.encoding}${decoded.isGuess ? ", a guess" : ""}`);
    return decoded.text;
  };
  const [stdout, stderr] = [read("stdout"), read("stderr")];
  return { stdout, stderr, truncated: outputs.stdout.truncated || outputs.stderr.truncated, notes };
}

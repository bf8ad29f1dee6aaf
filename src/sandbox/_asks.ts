import { SandboxGone } from "../domain/errors.ts";
import { type Bytes, Fields, type Frame, ProtocolError, wireId } from "./protocol.ts";

/** Of one answer over all its frames: more than a child's memory cannot be meant. */
const MAX_ANSWER_BYTES = 2 ** 30;

interface Ask {
  readonly parts: Bytes[];
  bytes: number;
  readonly resolve: (parts: readonly Bytes[]) => void;
  readonly reject: (error: Error) => void;
}

/** What the main process asked of a child and has no answer to yet. */
export class Asks {
  readonly #open = new Map<string, Ask>();
  #gone: SandboxGone | null = null;

  get idle(): boolean {
    return this.#open.size === 0;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** The payloads of the `done` frames that answer; rejects with SandboxGone when the child ends before. */
  begin(): { readonly id: string; readonly answer: Promise<readonly Bytes[]> } {
    const id = wireId();
    const { promise, resolve, reject } = Promise.withResolvers<readonly Bytes[]>();
    if (this.#gone) reject(this.#gone);
    else this.#open.set(id, { parts: [], bytes: 0, resolve, reject });
    return { id, answer: promise };
  }

  /** A `done` frame. Throws ProtocolError for an answer that nobody waits for. */
  receive({ header, payload }: Frame): void {
    const fields = new Fields(header, "done");
    const id = fields.id();
    const ask = this.#open.get(id);
    if (!ask) throw new ProtocolError("Cannot take an answer that nobody asked for");
    ask.bytes += payload.length;
    if (ask.bytes > MAX_ANSWER_BYTES) throw new ProtocolError(`Cannot take an answer of ${ask.bytes} bytes`);
    ask.parts.push(payload);
    if (fields.flag("more")) return;
    this.#open.delete(id);
    ask.resolve(ask.parts);
  }

  /** The child has ended. */
  end(why: string): void {
    this.#gone = new SandboxGone(why);
    for (const ask of this.#open.values()) ask.reject(this.#gone);
    this.#open.clear();
  }
}

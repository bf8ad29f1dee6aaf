import { SandboxEnded } from "../../domain/errors.ts";
import { type Bytes, type Frame, FrameFields, type Header, ProtocolError, wireId } from "../protocol.ts";

/** Limit of one answer over all its frames: no valid answer exceeds a child's memory. */
const MAX_ANSWER_BYTES = 2 ** 30;

/** The frames of one answer. */
export interface AnswerFrames {
  readonly payloads: readonly Bytes[];
  /** Header of the last frame. */
  readonly header: Header;
}

interface Ask {
  readonly payloads: Bytes[];
  bytes: number;
  readonly resolve: (answer: AnswerFrames) => void;
  readonly reject: (error: Error) => void;
}

/** Requests of the main process to a child that are not answered yet. */
export class Asks {
  readonly #open = new Map<string, Ask>();
  #gone: SandboxEnded | null = null;

  get idle(): boolean {
    return this.#open.size === 0;
  }

  has(id: string): boolean {
    return this.#open.has(id);
  }

  /** Resolves with the `done` frames of the answer; rejects with SandboxEnded if the child ends first. */
  begin(): { readonly id: string; readonly answer: Promise<AnswerFrames> } {
    const id = wireId();
    const { promise, resolve, reject } = Promise.withResolvers<AnswerFrames>();
    if (this.#gone) reject(this.#gone);
    else this.#open.set(id, { payloads: [], bytes: 0, resolve, reject });
    return { id, answer: promise };
  }

  /** Throws SandboxEnded if the child has ended. */
  check(): void {
    if (this.#gone) throw this.#gone;
  }

  /** Handles a `done` frame. Throws ProtocolError for an answer without a request. */
  receive({ header, payload }: Frame): void {
    const fields = new FrameFields(header, "done");
    const id = fields.id();
    const ask = this.#open.get(id);
    if (!ask) throw new ProtocolError("Cannot take an answer that nobody asked for");
    ask.bytes += payload.length;
    if (ask.bytes > MAX_ANSWER_BYTES) throw new ProtocolError(`Cannot take an answer of ${ask.bytes} bytes`);
    ask.payloads.push(payload);
    if (fields.flag("more")) return;
    this.#open.delete(id);
    ask.resolve({ payloads: ask.payloads, header });
  }

  /** Called when the child has ended. */
  end(why: string): void {
    this.#gone = new SandboxEnded(why);
    for (const ask of this.#open.values()) ask.reject(this.#gone);
    this.#open.clear();
  }
}

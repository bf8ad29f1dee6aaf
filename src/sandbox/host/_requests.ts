import { SandboxEnded } from "../../domain/errors.ts";
import type { ChildLink } from "./_child_link.ts";
import { type Bytes, type Frame, FrameFields, type Header, ProtocolError, wireId } from "../protocol.ts";

/** How long a request takes at most, and a rendering beyond its own limit: large values take seconds on a busy machine. */
export const REQUEST_MS = 15_000;
/** Limit of one answer over all its frames: no valid answer exceeds a child's memory. */
const MAX_ANSWER_BYTES = 2 ** 30;

/** The frames of one answer. */
export interface AnswerFrames {
  readonly payloads: readonly Bytes[];
  /** Header of the last frame. */
  readonly header: Header;
}

interface Request {
  readonly payloads: Bytes[];
  bytes: number;
  readonly resolve: (answer: AnswerFrames) => void;
  readonly reject: (error: Error) => void;
}

/** Requests of the main process to one child, other than host calls: sent, timed and answered once. */
export class Requests {
  readonly #link: Pick<ChildLink, "send" | "sendLater" | "kill">;
  readonly #open = new Map<string, Request>();
  #gone: SandboxEnded | null = null;

  constructor(link: Pick<ChildLink, "send" | "sendLater" | "kill">) {
    this.#link = link;
  }

  /** Whether every request is answered. */
  get idle(): boolean {
    return this.#open.size === 0;
  }

  /** For a request in several frames. Resolves with the `done` frames of the answer; rejects with SandboxEnded if the
   * child ends first. */
  begin(): { readonly id: string; readonly answer: Promise<AnswerFrames> } {
    const id = wireId();
    const { promise, resolve, reject } = Promise.withResolvers<AnswerFrames>();
    if (this.#gone) reject(this.#gone);
    else this.#open.set(id, { payloads: [], bytes: 0, resolve, reject });
    return { id, answer: promise };
  }

  async ask(
    header: Header,
    payload?: Bytes,
    { ms = REQUEST_MS }: { readonly ms?: number } = {},
  ): Promise<AnswerFrames> {
    const { id, answer } = this.begin();
    this.#link.send({ ...header, id }, payload);
    return await this.within(answer, ms);
  }

  /** For messages without an answer: sent with the next frame. Throws SandboxEnded if the child has ended. */
  tell(header: Header, payload?: Bytes): void {
    if (this.#gone) throw this.#gone;
    this.#link.sendLater({ ...header, id: null }, payload);
  }

  async within<T>(answer: Promise<T>, ms = REQUEST_MS): Promise<T> {
    const timer = setTimeout(() => this.#link.kill(`it did not answer within ${ms / 1000} s`), ms);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Handles a `done` frame. Throws ProtocolError for an answer without a request. */
  receive({ header, payload }: Frame): void {
    const fields = new FrameFields(header, "done");
    const id = fields.id();
    const request = this.#open.get(id);
    if (!request) throw new ProtocolError("Cannot take an answer that nobody asked for");
    request.bytes += payload.length;
    if (request.bytes > MAX_ANSWER_BYTES) throw new ProtocolError(`Cannot take an answer of ${request.bytes} bytes`);
    request.payloads.push(payload);
    if (fields.flag("more")) return;
    this.#open.delete(id);
    request.resolve({ payloads: request.payloads, header });
  }

  /** Called when the child has ended. */
  end(why: string): void {
    this.#gone = new SandboxEnded(why);
    for (const request of this.#open.values()) request.reject(this.#gone);
    this.#open.clear();
  }
}

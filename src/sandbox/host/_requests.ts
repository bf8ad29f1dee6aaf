import { type AnswerFrames, Asks } from "./_asks.ts";
import type { ChildLink } from "./_child_link.ts";
import type { Bytes, Frame, Header } from "../protocol.ts";

const ASK_MS = 60_000;

/** Requests of the main process to one child, other than host calls: sent, timed and answered once. */
export class Requests {
  readonly #link: Pick<ChildLink, "send" | "sendLater" | "kill">;
  readonly #asks = new Asks();

  constructor(link: Pick<ChildLink, "send" | "sendLater" | "kill">) {
    this.#link = link;
  }

  /** Whether every request is answered. */
  get idle(): boolean {
    return this.#asks.idle;
  }

  /** For a request in several frames; rejects with SandboxEnded if the child ends first. */
  begin(): { readonly id: string; readonly answer: Promise<AnswerFrames> } {
    return this.#asks.begin();
  }

  async ask(header: Header, payload?: Bytes, { ms = ASK_MS }: { readonly ms?: number } = {}): Promise<AnswerFrames> {
    const { id, answer } = this.#asks.begin();
    this.#link.send({ ...header, id }, payload);
    return await this.within(answer, ms);
  }

  /** For messages without an answer: sent with the next frame. Throws SandboxEnded if the child has ended. */
  tell(header: Header, payload?: Bytes): void {
    this.#asks.check();
    this.#link.sendLater({ ...header, id: null }, payload);
  }

  async within<T>(answer: Promise<T>, ms = ASK_MS): Promise<T> {
    const timer = setTimeout(() => this.#link.kill(`it did not answer within ${ms / 1000} s`), ms);
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Handles a `done` frame. Throws ProtocolError for an answer without a request. */
  receive(frame: Frame): void {
    this.#asks.receive(frame);
  }

  /** Called when the child has ended. */
  end(why: string): void {
    this.#asks.end(why);
  }
}

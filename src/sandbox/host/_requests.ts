import { type AnswerFrames, Asks } from "./_asks.ts";
import type { ChildLink } from "./_child_link.ts";
import type { Bytes, Frame, Header } from "../protocol.ts";

const ASK_MS = 60_000;

/** What the main process asks of one child besides host calls: sent, timed and answered once. */
export class Requests {
  readonly #link: Pick<ChildLink, "send" | "sendLater" | "kill">;
  readonly #asks = new Asks();

  constructor(link: Pick<ChildLink, "send" | "sendLater" | "kill">) {
    this.#link = link;
  }

  /** Whether nothing is unanswered. */
  get idle(): boolean {
    return this.#asks.idle;
  }

  /** For a request in several frames; rejects with SandboxEnded when the child ends before. */
  begin(): { readonly id: string; readonly answer: Promise<AnswerFrames> } {
    return this.#asks.begin();
  }

  async ask(header: Header, payload?: Bytes, { ms = ASK_MS }: { readonly ms?: number } = {}): Promise<AnswerFrames> {
    const { id, answer } = this.#asks.begin();
    this.#link.send({ ...header, id }, payload);
    return await this.within(answer, ms);
  }

  /** Nobody waits for an answer: it goes with the next frame. Throws SandboxEnded where the child has ended. */
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

  /** A `done` frame. Throws ProtocolError for an answer that nobody waits for. */
  receive(frame: Frame): void {
    this.#asks.receive(frame);
  }

  /** The child has ended. */
  end(why: string): void {
    this.#asks.end(why);
  }
}

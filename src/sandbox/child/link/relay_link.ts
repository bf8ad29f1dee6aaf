import type { CallAnswer, FromWorker, ToWorker } from "./messages.ts";
import { transferable } from "./transferable.ts";

/** Larger answers are sent to the worker separately, without a copy. */
const SMALL_BYTES = 4096;

/** The main thread's end of the port to the worker. What arrives is not trusted. */
export class RelayLink {
  readonly #port: MessagePort;
  #answers: CallAnswer[] = [];

  constructor(port: MessagePort, onMessage: (message: FromWorker) => void) {
    this.#port = port;
    port.onmessage = ({ data }: MessageEvent<FromWorker>) => onMessage(data);
  }

  post(message: ToWorker): void {
    this.#port.postMessage(message, transferable(message));
  }

  /** Sends an answer; a small one waits for `forward`. */
  answer(answer: CallAnswer): void {
    if (answer.payload.length <= SMALL_BYTES) this.#answers.push(answer);
    else this.post({ t: "answer", ...answer });
  }

  /** Call after all frames that arrived together have been received: their answers are posted as one message. */
  forward(): void {
    const answers = this.#answers;
    if (answers.length === 0) return;
    this.#answers = [];
    this.post({ t: "answers", answers });
  }
}

import { readMail, writeAnswers, writeGroup } from "./mail.ts";
import { Mailbox } from "./mailbox.ts";
import type { CallAnswer, FromWorker, HeldMessage, ToWorker } from "./messages.ts";
import { transferable } from "./transferable.ts";

/** Larger answers go to the worker by themselves, without a copy. */
const SMALL_BYTES = 4096;

export interface RelayLinkOptions {
  readonly port: MessagePort;
  /** Of the mailboxes beside the port. */
  readonly memory: SharedArrayBuffer;
  readonly onMessage: (message: FromWorker) => void;
}

/** The main thread's end of what it and the worker say to each other. What comes is not trusted. */
export class RelayLink {
  readonly #options: RelayLinkOptions;
  readonly #inbox: Mailbox;
  readonly #outbox: Mailbox;
  #answers: CallAnswer[] = [];
  #held: HeldMessage[] = [];
  #isHere = false;

  constructor(options: RelayLinkOptions) {
    const { port, memory, onMessage } = options;
    this.#options = options;
    this.#inbox = new Mailbox(memory, "relay");
    this.#outbox = new Mailbox(memory, "worker");
    port.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      this.#inbox.took();
      onMessage(data);
    };
  }

  /** Whether the worker sleeps, and has said what it had to say. */
  get isWorkerAsleep(): boolean {
    return this.#outbox.isReaderAsleep && !this.hasWork; // asked first: it speaks before it sleeps
  }

  /** Whether `listen` would find something to do. */
  get hasWork(): boolean {
    return this.#inbox.isFull || this.#answers.length > 0;
  }

  /** Whether the event loop has a message of the worker. */
  get hasPosted(): boolean {
    return this.#inbox.hasPosted;
  }

  /** The worker's foreign code has ended; taken back when the next run begins. */
  get isSettled(): boolean {
    return this.#inbox.flag;
  }

  /** From now on until `leave` the worker may answer without the event loop. */
  enter(): void {
    this.#isHere = true;
    this.#inbox.enter();
  }

  /** Blocks the thread until the worker says something, at most `ms`. False where it did not. Throws ProtocolError. */
  listen(ms: number): boolean {
    const mail = this.#inbox.wait(ms);
    if (mail === "late") return false;
    if (mail !== "called") this.#options.onMessage(readMail(mail));
    this.forward();
    return true;
  }

  /** Throws ProtocolError. */
  leave(): void {
    this.#isHere = false;
    this.forward();
    const mail = this.#inbox.leave();
    if (mail) this.#options.onMessage(readMail(mail));
  }

  /** Goes with the next message: it alone is not worth waking the worker. */
  hold(message: HeldMessage): void {
    this.#held.push(message);
  }

  /** By the mailbox to a worker that sleeps, where it fits; not to one in a turn, which may go on for long. */
  post(message: ToWorker): void {
    if (message.t === "run") this.#inbox.flag = false;
    const messages = this.#held.length > 0 ? [...this.#held, message] : [message];
    this.#held = [];
    if (this.#outbox.isReaderAsleep && this.#outbox.isOpen) {
      const length = writeGroup(this.#outbox.space, messages);
      if (length > 0 && this.#outbox.deliver(length)) return;
    }
    const [first = message] = messages;
    this.#postByPort(messages.length === 1 ? first : { t: "group", messages });
  }

  #postByPort(message: ToWorker): void {
    this.#outbox.posting();
    this.#options.port.postMessage(message, transferable(message));
  }

  /** Waits for `forward` where it is small. */
  answer(answer: CallAnswer): void {
    if (answer.payload.length <= SMALL_BYTES) this.#answers.push(answer);
    else this.#postByPort({ t: "answer", ...answer });
  }

  /** To be called when the frames that arrived together have been received: their answers go on together, with those
   * that come while the worker has not read the ones before. */
  forward(): void {
    const answers = this.#answers;
    if (answers.length === 0 || (this.#isHere && this.#outbox.isFull)) return;
    this.#answers = [];
    if (this.#outbox.isOpen) {
      const length = writeAnswers(this.#outbox.space, answers);
      if (length > 0 && this.#outbox.deliver(length)) return;
    }
    const [first] = answers;
    if (answers.length === 1 && first) this.#postByPort({ t: "answer", ...first });
    else this.#postByPort({ t: "answers", answers });
  }
}

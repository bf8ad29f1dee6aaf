import { readToWorker, writeMail } from "./mail.ts";
import { Mailbox } from "./mailbox.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { transferable } from "./transferable.ts";

/** Longer sleeps would hold up what else the event loop has to do. */
const SLEEP_MS = 5, REST_MS = 10_000;
const ROOM_MS = 1;

export type Mail = Extract<ToWorker, { t: "group" | "answers" }>;

/** The worker's end of what it and the child's main thread say to each other. */
export class WorkerLink {
  readonly #send: (message: FromWorker, transfer: Transferable[]) => void;
  readonly #inbox: Mailbox;
  readonly #outbox: Mailbox;
  readonly #asleep = (): void => this.#outbox.call();

  constructor(port: MessagePort, memory: SharedArrayBuffer) {
    this.#send = port.postMessage.bind(port);
    this.#inbox = new Mailbox(memory, "worker");
    this.#outbox = new Mailbox(memory, "relay");
  }

  post(message: FromWorker): void {
    if (this.#outbox.isFull) this.#outbox.awaitRoom(ROOM_MS); // it reads soon: it is awake
    if (this.#outbox.isOpen) {
      const length = writeMail(this.#outbox.space, message);
      if (length > 0 && this.#outbox.deliver(length)) return;
    }
    this.#outbox.posting();
    this.#send(message, transferable(message));
  }

  /** A message came over the port. */
  took(): void {
    this.#inbox.took();
  }

  /** Foreign code of the run has ended; the relay takes it back when the next one begins. */
  settle(): void {
    this.#outbox.flag = true;
  }

  /** What comes from now on waits for `sleep` or `leave`. */
  enter(): void {
    this.#inbox.enter();
  }

  /** Sleeps for a moment until something comes; null where nothing did, or something else is to be done. */
  sleep(ms = SLEEP_MS): Mail | null {
    const mail = this.#inbox.wait(ms, this.#asleep);
    return typeof mail === "string" ? null : readToWorker(mail);
  }

  leave(): Mail | null {
    const mail = this.#inbox.leave();
    return mail && readToWorker(mail);
  }

  /** Sleeps for a moment outside of a turn. */
  rest(): Mail | null {
    this.#inbox.enter();
    const mail = this.sleep(REST_MS);
    return mail ?? this.leave();
  }
}

const { add, compareExchange, exchange, load, notify, store, wait } = Atomics;
const Words = Int32Array, Bytes8 = Uint8Array;
const setBytes = Uint8Array.prototype.set;
const { apply } = Reflect;

/** The reader is in its event loop; looks here before it goes there; sleeps; has a message; is to look around. */
const AWAY = 0, AWAKE = 1, ASLEEP = 2, FULL = 3, CALLED = 4;
const STATE = 0, LENGTH = 1, POSTED = 2, TAKEN = 3, FLAG = 4, WORDS = 8;
const HEAD_BYTES = WORDS * 4;
/** The other side changes the state twice at most meanwhile, unless it means harm. */
const MAX_TRIES = 100;

/** Of one message. */
export const MAILBOX_BYTES = 60 << 10;
const SIZE = HEAD_BYTES + MAILBOX_BYTES;

/** Memory for both directions. */
export function mailboxMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * SIZE);
}

/**
 * A place for one message from one of the child's threads to the other, in memory that both see. Waking a thread that
 * sleeps here costs a tenth of a message of the port that they have beside it. It takes a message only while its reader
 * is to look here again before anything else, and has taken all that was posted: messages keep their order. Neither
 * side trusts the other's words: every sleep ends by itself, and lengths are held to the memory.
 */
export class Mailbox {
  readonly #memory: SharedArrayBuffer;
  readonly #start: number;
  readonly #words: Int32Array<SharedArrayBuffer>;
  /** Sender: where to write a message. Nobody reads it before `deliver`. */
  readonly space: Uint8Array<SharedArrayBuffer>;

  constructor(memory: SharedArrayBuffer, to: "worker" | "relay") {
    const at = to === "worker" ? 0 : SIZE;
    this.#memory = memory;
    this.#start = at + HEAD_BYTES;
    this.#words = new Words(memory, at, WORDS);
    this.space = new Bytes8(memory, this.#start, MAILBOX_BYTES);
  }

  /** Sender: whether the reader sleeps here. */
  get isReaderAsleep(): boolean {
    return load(this.#words, STATE) === ASLEEP;
  }

  /** Sender: whether it takes a message now. */
  get isOpen(): boolean {
    const state = load(this.#words, STATE);
    return state !== AWAY && state !== FULL && !this.hasPosted;
  }

  /** Whether the reader is here and has not read its message yet. */
  get isFull(): boolean {
    return load(this.#words, STATE) === FULL;
  }

  /** Sender: waits at most `ms` for the reader to take the message before. */
  awaitRoom(ms: number): void {
    if (!this.hasPosted) wait(this.#words, STATE, FULL, ms);
  }

  /** Whether a message of the port has not been taken yet. */
  get hasPosted(): boolean {
    return load(this.#words, POSTED) !== load(this.#words, TAKEN);
  }

  /** Sender: hands over what was written. False where the reader has left meanwhile. */
  deliver(length: number): boolean {
    store(this.#words, LENGTH, length);
    return this.#turn(FULL);
  }

  /** Sender: the reader is to look around, if it is here. */
  call(): void {
    this.#turn(CALLED);
  }

  /** Sender: a message is about to go over the port. Before it goes, so that it is not taken before it was counted. */
  posting(): void {
    add(this.#words, POSTED, 1);
    if (this.isReaderAsleep) this.#turn(CALLED);
  }

  /** Reader: a message came over the port. */
  took(): void {
    add(this.#words, TAKEN, 1);
  }

  /** Reader: will look here before it goes back to its event loop. */
  enter(): void {
    store(this.#words, STATE, AWAKE);
  }

  /** Reader: goes back to its event loop, with the message that is left. */
  leave(): Uint8Array<ArrayBuffer> | null {
    if (exchange(this.#words, STATE, AWAY) !== FULL) return null;
    notify(this.#words, STATE);
    return this.#read();
  }

  /** Reader, between `enter` and `leave`: sleeps at most `ms`. A message, "called", or "late" when nothing came. */
  wait(ms: number, asleep?: () => void): Uint8Array<ArrayBuffer> | "called" | "late" {
    const words = this.#words;
    if (compareExchange(words, STATE, AWAKE, ASLEEP) === AWAKE && !this.hasPosted) {
      asleep?.();
      wait(words, STATE, ASLEEP, ms);
    }
    const state = this.#wakeUp();
    if (state !== FULL) return state === CALLED || this.hasPosted ? "called" : "late";
    const mail = this.#read();
    store(words, STATE, AWAKE); // not before: a sender may write the next one then
    notify(words, STATE);
    return mail;
  }

  /** A word beside the messages, where only its last state matters. */
  get flag(): boolean {
    return load(this.#words, FLAG) !== 0;
  }

  set flag(on: boolean) {
    store(this.#words, FLAG, on ? 1 : 0);
  }

  #turn(to: typeof FULL | typeof CALLED): boolean {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const state = load(this.#words, STATE);
      if (state === AWAY || state === FULL) return false;
      if (compareExchange(this.#words, STATE, state, to) !== state) continue;
      if (state === ASLEEP) notify(this.#words, STATE);
      return true;
    }
    return false;
  }

  /** The state it was woken with; FULL stays until the message has been read. */
  #wakeUp(): number {
    let state = load(this.#words, STATE);
    for (let tries = 0; state !== FULL && tries < MAX_TRIES; tries++) {
      const found = compareExchange(this.#words, STATE, state, AWAKE);
      if (found === state) return state;
      state = found;
    }
    return state;
  }

  /** A copy: the other thread may go on writing. */
  #read(): Uint8Array<ArrayBuffer> {
    const length = load(this.#words, LENGTH);
    const size = length >= 0 && length <= MAILBOX_BYTES ? length : 0;
    const bytes = new Bytes8(size);
    apply(setBytes, bytes, [new Bytes8(this.#memory, this.#start, size)]);
    return bytes;
  }
}

/**
 * Messages as bytes for a mailbox: the few kinds that come often and are small; everything else takes the port. The
 * worker writes and reads them next to foreign code, so nothing on its side uses what a block could replace.
 */
import { bareList, intrinsics as own } from "../codec_intrinsics.ts";
import { type Bytes, ProtocolError } from "../protocol.ts";
import type { CallAnswer, CallMessage, FromWorker, ToWorker } from "./messages.ts";

const ID_CHARS = 32, LAST_CHAR = 255;
const CALLS = 1, DONE = 2, ANSWERS = 3, GROUP = 4;
const encoder = new TextEncoder();

/** Throws nothing: what does not fit makes it `full`. */
class MailWriter {
  readonly #space: Uint8Array<SharedArrayBuffer>;
  readonly #size: number;
  #end = 0;
  #full = false;

  constructor(space: Uint8Array<SharedArrayBuffer>) {
    this.#space = space;
    this.#size = own.viewLength(space);
  }

  /** Bytes written, 0 where not all of them fitted. */
  get length(): number {
    return this.#full ? 0 : this.#end;
  }

  byte(value: number): void {
    if (this.#has(1)) this.#space[this.#end++] = value;
  }

  uint32(value: number): void {
    if (!this.#has(4)) return;
    for (let shift = 0; shift < 32; shift += 8) this.#space[this.#end++] = value >>> shift & 255;
  }

  /** Characters up to 255 only. */
  chars(text: string): void {
    const { length } = text;
    if (!this.#has(length)) return;
    for (let i = 0; i < length; i++) {
      const code = own.charCodeAt(text, i);
      if (code > LAST_CHAR) this.#full = true;
      this.#space[this.#end++] = code;
    }
  }

  bytes(bytes: Bytes): void {
    const length = own.viewLength(bytes);
    this.uint32(length);
    if (!this.#has(length)) return;
    own.bytesSet(this.#space, bytes, this.#end);
    this.#end += length;
  }

  #has(count: number): boolean {
    if (this.#end + count > this.#size) this.#full = true;
    return !this.#full;
  }
}

/** Throws ProtocolError where a message is shorter than it says. */
class MailReader {
  readonly #bytes: Bytes;
  readonly #size: number;
  #at = 0;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
    this.#size = own.viewLength(bytes);
  }

  byte(): number {
    return this.#bytes[this.#take(1)]!;
  }

  uint32(): number {
    const at = this.#take(4), bytes = this.#bytes;
    return (bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24) >>> 0;
  }

  chars(count: number): string {
    const at = this.#take(count);
    let text = "";
    for (let i = at; i < at + count; i++) text += String.fromCharCode(this.#bytes[i]!);
    return text;
  }

  bytes(): Bytes {
    const length = this.uint32(), at = this.#take(length);
    const copy = new own.Uint8Array(length);
    own.bytesSet(copy, new own.Uint8Array(own.viewBuffer(this.#bytes) as ArrayBuffer, at, length), 0);
    return copy;
  }

  #take(count: number): number {
    const at = this.#at;
    if (count > this.#size - at) throw new ProtocolError("Cannot read a message that was cut off");
    this.#at += count;
    return at;
  }
}

/** The worker's message as bytes in `space`; 0 where it is of another kind or does not fit. */
export function writeMail(space: Uint8Array<SharedArrayBuffer>, message: FromWorker): number {
  const writer = new MailWriter(space);
  if (message.t === "call") {
    writer.byte(CALLS);
    writer.uint32(1);
    writeCall(writer, message);
  } else if (message.t === "calls") {
    const { calls } = message;
    writer.byte(CALLS);
    writer.uint32(calls.length);
    for (let i = 0; i < calls.length; i++) writeCall(writer, calls[i]!);
  } else if (message.t === "done" && !message.more && !message.error && message.id.length === ID_CHARS) {
    writer.byte(DONE);
    writer.chars(message.id);
    writer.byte(message.rests ? 1 : 0);
    writer.bytes(message.payload);
  }
  return writer.length;
}

function writeCall(writer: MailWriter, { id, run, name, payload }: CallMessage): void {
  writer.uint32(id);
  writer.uint32(run.length);
  writer.chars(run);
  writer.uint32(name.length);
  writer.chars(name);
  writer.bytes(payload);
}

/** For the relay. Throws ProtocolError. */
export function readMail(bytes: Bytes): Extract<FromWorker, { t: "calls" | "done" }> {
  const reader = new MailReader(bytes);
  if (reader.byte() === DONE) {
    const id = reader.chars(ID_CHARS), rests = reader.byte() === 1;
    return { t: "done", id, more: false, error: null, rests, payload: reader.bytes() };
  }
  const calls: CallMessage[] = [];
  for (let left = reader.uint32(); left > 0; left--) {
    const id = reader.uint32(), run = reader.chars(reader.uint32()), name = reader.chars(reader.uint32());
    calls.push({ id, run, name, payload: reader.bytes() });
  }
  return { t: "calls", calls };
}

/** Answers as bytes in `space`; 0 where they do not fit. */
export function writeAnswers(space: Uint8Array<SharedArrayBuffer>, answers: readonly CallAnswer[]): number {
  const writer = new MailWriter(space);
  writer.byte(ANSWERS);
  writer.uint32(answers.length);
  for (const { id, ok, payload } of answers) {
    writer.uint32(id);
    writer.byte(ok ? 1 : 0);
    writer.bytes(payload);
  }
  return writer.length;
}

/** Messages that are JSON and a payload as bytes in `space`; 0 where one is not, or they do not fit. */
export function writeGroup(space: Uint8Array<SharedArrayBuffer>, messages: readonly ToWorker[]): number {
  const writer = new MailWriter(space);
  writer.byte(GROUP);
  writer.uint32(messages.length);
  for (const message of messages) {
    switch (message.t) {
      case "run":
      case "read":
      case "forget":
      case "endQuery":
        writer.bytes(encoder.encode(JSON.stringify(message)));
        writer.byte(0);
        break;
      case "bind":
      case "render": {
        const { payload, ...rest } = message;
        writer.bytes(encoder.encode(JSON.stringify(rest)));
        writer.byte(1);
        writer.bytes(payload);
        break;
      }
      default:
        return 0;
    }
  }
  return writer.length;
}

/** For the worker, which trusts the relay. */
export function readToWorker(bytes: Bytes): Extract<ToWorker, { t: "group" | "answers" }> {
  const reader = new MailReader(bytes);
  if (reader.byte() === GROUP) return { t: "group", messages: readGroup(reader) };
  const answers = bareList<CallAnswer>();
  for (let left = reader.uint32(); left > 0; left--) {
    answers[answers.length] = { id: reader.uint32(), ok: reader.byte() === 1, payload: reader.bytes() };
  }
  return { t: "answers", answers };
}

function readGroup(reader: MailReader): ToWorker[] {
  const messages = bareList<ToWorker>();
  for (let left = reader.uint32(); left > 0; left--) {
    const message = own.parse(own.utf8(reader.bytes())) as ToWorker;
    messages[messages.length] = reader.byte() === 1 ? { ...message, payload: reader.bytes() } as ToWorker : message;
  }
  return messages;
}

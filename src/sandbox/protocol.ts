/**
 * Frames over a byte pipe, the only language between the main process and a sandbox child:
 *
 *     token (16 bytes) | header length u32 LE | payload length u32 LE | header (UTF-8 JSON) | payload
 *
 * The token is random per child and never reaches the worker that runs foreign code: bytes that do not start with
 * it are not a frame, and the reader ends the connection. This file imports nothing, because both sides
 * bundle it.
 */

export const PROTOCOL_VERSION = 1;
export const TOKEN_BYTES = 16;
export const MAX_HEADER_BYTES = 1 << 20;
export const MAX_PAYLOAD_BYTES = 64 << 20;
/** Maximum number of open host calls of a child, and of the bytes of their arguments together. */
export const MAX_CALLS = 64;
export const MAX_CALL_BYTES = 128 << 20;
/** Maximum number of values, keys included, in the arguments of a call and in its result. */
export const MAX_CALL_VALUES = 200_000;
export const MAX_RESULT_VALUES = 1_000_000;
/** Size of one output frame, and how many of them a child may send per second while a block runs. */
export const MAX_OUTPUT_BYTES = 64 << 10;
export const OUTPUT_FRAMES_PER_SECOND = 20;

const FIXED_BYTES = TOKEN_BYTES + 8;
const NOTHING = new Uint8Array(0);
const ID_BYTES = 16;
const RANDOM_BYTES = 4096;
const LINE_FEED = 10;

export type Bytes = Uint8Array<ArrayBuffer>;
export type Header = { readonly t: string } & Readonly<Record<string, unknown>>;

export interface Frame {
  readonly header: Header;
  readonly payload: Bytes;
}

/** Bytes that are not a frame, or a frame with invalid fields. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const encoder = new TextEncoder();
const headerText = new TextDecoder("utf-8", { fatal: true });
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** A pool of random bytes: requesting 16 at a time from the system costs more than a whole host call may. */
class Random {
  readonly #bytes = new Uint8Array(RANDOM_BYTES);
  #used = RANDOM_BYTES;

  id(): string {
    if (this.#used + ID_BYTES > RANDOM_BYTES) {
      crypto.getRandomValues(this.#bytes);
      this.#used = 0;
    }
    let id = "";
    for (const end = this.#used + ID_BYTES; this.#used < end; this.#used++) id += HEX[this.#bytes[this.#used]!];
    return id;
  }
}

const random = new Random();

/** A token for a new child, without line feeds: the runtime writes each line to stdout apart, which would double the
 * writes of a child. */
export function newToken(): Bytes {
  return crypto.getRandomValues(new Uint8Array(TOKEN_BYTES)).map((byte) => byte === LINE_FEED ? 0 : byte);
}

/** A new id for the wire: 16 random bytes as hexadecimal text, so that it cannot be guessed. */
export function wireId(): string {
  return random.id();
}

/** The head of a frame; the payload follows it on the wire without a copy. Throws RangeError over a limit. */
export function frameHead(
  token: Uint8Array,
  { header, payloadBytes }: { readonly header: Header; readonly payloadBytes: number },
): Bytes {
  const json = encoder.encode(JSON.stringify(header));
  if (json.length > MAX_HEADER_BYTES) throw new RangeError(`Cannot send a header of ${json.length} bytes`);
  if (payloadBytes > MAX_PAYLOAD_BYTES) throw new RangeError(`Cannot send a payload of ${payloadBytes} bytes`);
  const head = new Uint8Array(FIXED_BYTES + json.length);
  head.set(token);
  const view = new DataView(head.buffer);
  view.setUint32(TOKEN_BYTES, json.length, true);
  view.setUint32(TOKEN_BYTES + 4, payloadBytes, true);
  head.set(json, FIXED_BYTES);
  return head;
}

/** Push parser: takes chunks of any size, passes on complete frames, throws ProtocolError on anything else. */
export class FrameReader {
  readonly #token: Uint8Array;
  readonly #fixed = new Uint8Array(FIXED_BYTES);
  /** Header and payload of the frame whose fixed part has been read. */
  #body: Bytes | null = null;
  #headerBytes = 0;
  #filled = 0;

  constructor(token: Uint8Array) {
    this.#token = token;
  }

  /** True inside a frame: if the input ends here, the frame was cut off. */
  get inFrame(): boolean {
    return this.#filled > 0 || this.#body !== null;
  }

  push(chunk: Uint8Array, onFrame: (frame: Frame) => void): void {
    for (let at = 0; at < chunk.length;) {
      at += (this.inFrame ? 0 : this.#readWhole(chunk, at, onFrame)) || this.#readPart(chunk.subarray(at), onFrame);
    }
  }

  /** Reads what is missing of the frame's current part. Returns the number of bytes used. */
  #readPart(chunk: Uint8Array, onFrame: (frame: Frame) => void): number {
    const body = this.#body, target = body ?? this.#fixed;
    const part = chunk.subarray(0, target.length - this.#filled);
    target.set(part, this.#filled);
    this.#filled += part.length;
    // A sender without the token must not make the reader wait for the rest.
    if (body === null) this.#checkToken(target, { at: 0, length: Math.min(this.#filled, TOKEN_BYTES) });
    if (this.#filled < target.length) return part.length;
    this.#filled = 0;
    if (body === null) {
      const { headerBytes, payloadBytes } = lengths(target);
      this.#headerBytes = headerBytes;
      this.#body = new Uint8Array(headerBytes + payloadBytes);
    } else {
      this.#body = null;
      onFrame({ header: parseHeader(body.subarray(0, this.#headerBytes)), payload: body.subarray(this.#headerBytes) });
    }
    return part.length;
  }

  /** Reads a frame in place if it is completely inside the chunk. Returns its length, or 0. */
  #readWhole(chunk: Uint8Array, at: number, onFrame: (frame: Frame) => void): number {
    if (chunk.length - at < FIXED_BYTES) return 0;
    this.#checkToken(chunk, { at, length: TOKEN_BYTES });
    const { headerBytes, payloadBytes } = lengths(chunk, at);
    const header = at + FIXED_BYTES, payload = header + headerBytes, end = payload + payloadBytes;
    if (end > chunk.length) return 0;
    onFrame({
      header: parseHeader(chunk.subarray(header, payload)),
      payload: payloadBytes > 0 ? new Uint8Array(chunk.subarray(payload, end)) : NOTHING,
    });
    return end - at;
  }

  #checkToken(bytes: Uint8Array, { at, length }: { readonly at: number; readonly length: number }): void {
    for (let i = 0; i < length; i++) {
      if (bytes[at + i] !== this.#token[i]) throw new ProtocolError("Cannot read bytes that are not a frame");
    }
  }
}

/** Blocking read of the first frame of a child. Its first 16 bytes are the token of the connection. */
export function readFrameSync(
  read: (into: Uint8Array) => number | null,
): Frame & { readonly token: Bytes } {
  const exactly = (length: number): Bytes => {
    const out = new Uint8Array(length);
    for (let at = 0; at < length;) {
      const got = read(out.subarray(at));
      if (got === null || got === 0) throw new ProtocolError("Cannot read a frame: end of input");
      at += got;
    }
    return out;
  };
  const fixed = exactly(FIXED_BYTES);
  const { headerBytes, payloadBytes } = lengths(fixed);
  const header = parseHeader(exactly(headerBytes));
  return { token: fixed.slice(0, TOKEN_BYTES), header, payload: exactly(payloadBytes) };
}

/** Reads the fixed part of a frame that starts at `at`. */
function lengths(bytes: Uint8Array, at = 0): { headerBytes: number; payloadBytes: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at + TOKEN_BYTES);
  const headerBytes = view.getUint32(0, true), payloadBytes = view.getUint32(4, true);
  if (headerBytes === 0 || headerBytes > MAX_HEADER_BYTES || payloadBytes > MAX_PAYLOAD_BYTES) {
    throw new ProtocolError(`Cannot read a frame of ${headerBytes} + ${payloadBytes} bytes`);
  }
  return { headerBytes, payloadBytes };
}

function parseHeader(bytes: Uint8Array): Header {
  let value: unknown;
  try {
    value = JSON.parse(headerText.decode(bytes));
  } catch {
    throw new ProtocolError("Cannot read a header that is not JSON");
  }
  if (!isHeader(value)) throw new ProtocolError('Cannot read header: bad field "t"');
  return value;
}

function isHeader(value: unknown): value is Header {
  return isRecord(value) && typeof value["t"] === "string" && value["t"].length <= 32;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Strict access to a value from the other side: every accessor checks and throws ProtocolError. */
export class FrameFields {
  readonly value: Readonly<Record<string, unknown>>;
  readonly #of: string;

  /** `of` describes the value in errors. */
  constructor(value: unknown, of: string) {
    if (!isRecord(value)) throw new ProtocolError(`Cannot read ${of}: not an object`);
    this.value = value;
    this.#of = of;
  }

  text(name: string, maxLength: number): string {
    const it = this.value[name];
    return typeof it === "string" && it.length <= maxLength ? it : this.#refuse(name);
  }

  id(name = "id"): string {
    const it = this.text(name, 32);
    return /^[0-9a-f]{32}$/.test(it) ? it : this.#refuse(name);
  }

  /** A finite, non-negative number. */
  amount(name: string): number {
    const it = this.value[name];
    return typeof it === "number" && it >= 0 && Number.isFinite(it) ? it : this.#refuse(name);
  }

  flag(name: string): boolean {
    const it = this.value[name];
    return typeof it === "boolean" ? it : this.#refuse(name);
  }

  oneOf<T extends string | number>(name: string, choices: readonly T[]): T {
    return choices.find((choice) => choice === this.value[name]) ?? this.#refuse(name);
  }

  list(name: string, maxLength: number): readonly unknown[] {
    const it = this.value[name];
    return Array.isArray(it) && it.length <= maxLength ? it : this.#refuse(name);
  }

  texts(name: string, max: { readonly items: number; readonly length: number }): string[] {
    return this.list(name, max.items).map((it) =>
      typeof it === "string" && it.length <= max.length ? it : this.#refuse(name)
    );
  }

  bytes(name: string): Bytes {
    const it = this.value[name];
    return it instanceof Uint8Array && it.buffer instanceof ArrayBuffer
      ? new Uint8Array(it.buffer, it.byteOffset, it.byteLength)
      : this.#refuse(name);
  }

  /** The field as read by `read`, or null if it is null. */
  nullable<T>(name: string, read: (name: string) => T): T | null {
    return this.value[name] === null ? null : read(name);
  }

  #refuse(name: string): never {
    throw new ProtocolError(`Cannot read ${this.#of}: bad field "${name}"`);
  }
}

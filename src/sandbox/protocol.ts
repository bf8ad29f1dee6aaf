/** A frame is the length of its header and of its payload (u32 LE each), a JSON header, and the payload. A block may
 * replace methods of prototypes, so code that the child runs here calls captured functions. */
import type { VariableImage, VariableKind, VariableSummary } from "../domain/query/variable.ts";
import { intrinsics, uncurry } from "./codec/intrinsics.ts";

export const PROTOCOL_VERSION = 1;
export const MAX_HEADER_BYTES = 1 << 20;
export const MAX_PAYLOAD_BYTES = 64 << 20;
export const MAX_CALLS = 64;
export const MAX_CALL_BYTES = 128 << 20;
/** Keys of objects count as values. */
export const MAX_CALL_VALUES = 200_000;
export const MAX_RESULT_VALUES = 1_000_000;
export const MAX_OUTPUT_BYTES = 64 << 10;
export const OUTPUT_FRAMES_PER_SECOND = 20;

const FIXED_BYTES = 8;
const NOTHING = new Uint8Array(0);
const ID_BYTES = 16, ID_CHARS = 2 * ID_BYTES;
const RANDOM_BYTES = 4096;

export type Bytes = Uint8Array<ArrayBuffer>;
export type Header = { readonly t: string } & Readonly<Record<string, unknown>>;

export interface Frame {
  readonly header: Header;
  readonly payload: Bytes;
}

export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const BytesOf = Uint8Array, Range = RangeError;
const { isArray, isArrayBuffer, bytesSet, defineProperty, viewBuffer, viewLength, viewOffset } = intrinsics;
const { isFinite } = Number;
const encoder = new TextEncoder();
const headerText = new TextDecoder("utf-8", { fatal: true });
const encode = uncurry(TextEncoder.prototype.encode) as (self: TextEncoder, text: string) => Bytes;
const decode = uncurry(TextDecoder.prototype.decode) as (self: TextDecoder, bytes: Bytes) => string;
const fillRandom = crypto.getRandomValues.bind(crypto);
const HEX = Object.freeze(Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0")));

/** The pool reads many bytes at once, because a system call for each id would be slow. */
class Random {
  readonly #bytes = new BytesOf(RANDOM_BYTES);
  #used = RANDOM_BYTES;

  id(): string {
    if (this.#used + ID_BYTES > RANDOM_BYTES) {
      fillRandom(this.#bytes);
      this.#used = 0;
    }
    let id = "";
    for (const end = this.#used + ID_BYTES; this.#used < end; this.#used++) id += HEX[this.#bytes[this.#used]!];
    return id;
  }
}

const random = new Random();

/** Returns 16 random bytes as hexadecimal text, so that foreign code cannot guess the id. */
export function wireId(): string {
  return random.id();
}

export function frameHead({ header, payloadBytes }: { readonly header: Header; readonly payloadBytes: number }): Bytes {
  const json = encode(encoder, intrinsics.stringify(header));
  const jsonBytes = viewLength(json);
  if (jsonBytes > MAX_HEADER_BYTES) {
    throw new Range(`Cannot send a frame: its header has ${jsonBytes} bytes; the limit is ${MAX_HEADER_BYTES}`);
  }
  if (payloadBytes > MAX_PAYLOAD_BYTES) {
    throw new Range(`Cannot send a frame: its payload has ${payloadBytes} bytes; the limit is ${MAX_PAYLOAD_BYTES}`);
  }
  const head = new BytesOf(FIXED_BYTES + jsonBytes);
  setUint32(head, 0, jsonBytes);
  setUint32(head, 4, payloadBytes);
  bytesSet(head, json, FIXED_BYTES);
  return head;
}

export class FrameReader {
  readonly #fixed = new BytesOf(FIXED_BYTES);
  #body: Bytes | null = null;
  #headerBytes = 0;
  #filled = 0;

  get inFrame(): boolean {
    return this.#filled > 0 || this.#body !== null;
  }

  push(chunk: Bytes, onFrame: (frame: Frame) => void): void {
    const end = viewLength(chunk);
    for (let at = 0; at < end;) {
      at += (this.inFrame ? 0 : this.#readWhole(chunk, at, onFrame)) || this.#readPart(chunk, at, onFrame);
    }
  }

  #readPart(chunk: Bytes, at: number, onFrame: (frame: Frame) => void): number {
    const body = this.#body, target = body ?? this.#fixed;
    const missing = viewLength(target) - this.#filled, given = viewLength(chunk) - at;
    const used = missing < given ? missing : given;
    bytesSet(target, part(chunk, at, at + used), this.#filled);
    this.#filled += used;
    if (used < missing) return used;
    this.#filled = 0;
    if (body === null) {
      const { headerBytes, payloadBytes } = lengths(target, 0);
      this.#headerBytes = headerBytes;
      this.#body = new BytesOf(headerBytes + payloadBytes);
    } else {
      this.#body = null;
      const header = parseHeader(part(body, 0, this.#headerBytes));
      onFrame({ header, payload: part(body, this.#headerBytes, viewLength(body)) });
    }
    return used;
  }

  #readWhole(chunk: Bytes, at: number, onFrame: (frame: Frame) => void): number {
    if (viewLength(chunk) - at < FIXED_BYTES) return 0;
    const { headerBytes, payloadBytes } = lengths(chunk, at);
    const header = at + FIXED_BYTES, payload = header + headerBytes, end = payload + payloadBytes;
    if (end > viewLength(chunk)) return 0;
    onFrame({
      header: parseHeader(part(chunk, header, payload)),
      payload: payloadBytes > 0 ? new BytesOf(part(chunk, payload, end)) : NOTHING,
    });
    return end - at;
  }
}

export function readFrameSync(read: (into: Uint8Array) => number | null): Frame {
  const exactly = (length: number): Bytes => {
    const out = new Uint8Array(length);
    for (let at = 0; at < length;) {
      const got = read(out.subarray(at));
      if (got === null || got === 0) throw new ProtocolError("Cannot read a frame: the input ended early");
      at += got;
    }
    return out;
  };
  const { headerBytes, payloadBytes } = lengths(exactly(FIXED_BYTES), 0);
  const header = parseHeader(exactly(headerBytes));
  return { header, payload: exactly(payloadBytes) };
}

function part(bytes: Bytes, from: number, to: number): Bytes {
  return new BytesOf(viewBuffer(bytes) as ArrayBuffer, viewOffset(bytes) + from, to - from);
}

function lengths(bytes: Bytes, at: number): { headerBytes: number; payloadBytes: number } {
  const headerBytes = uint32(bytes, at), payloadBytes = uint32(bytes, at + 4);
  if (headerBytes === 0 || headerBytes > MAX_HEADER_BYTES || payloadBytes > MAX_PAYLOAD_BYTES) {
    throw new ProtocolError(
      `Cannot read a frame: its header would have ${headerBytes} bytes, and its payload ${payloadBytes}; the limits are ` +
        `1 to ${MAX_HEADER_BYTES}, and ${MAX_PAYLOAD_BYTES}`,
    );
  }
  return { headerBytes, payloadBytes };
}

function uint32(bytes: Bytes, at: number): number {
  return (bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24) >>> 0;
}

function setUint32(bytes: Bytes, at: number, value: number): void {
  for (let i = 0; i < 4; i++) bytes[at + i] = value >>> (8 * i);
}

function parseHeader(bytes: Bytes): Header {
  let value: unknown;
  try {
    value = intrinsics.parse(decode(headerText, bytes));
  } catch {
    throw new ProtocolError("Cannot read a header: it is not JSON");
  }
  if (!isHeader(value)) throw new ProtocolError('Cannot read a header: its field "t" is not valid');
  return value;
}

function isHeader(value: unknown): value is Header {
  return isRecord(value) && typeof value["t"] === "string" && value["t"].length <= 32;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !isArray(value);
}

/** Accessors throw ProtocolError if a field has another type or exceeds its limit. */
export class FrameFields {
  readonly value: Readonly<Record<string, unknown>>;
  readonly #of: string;

  constructor(value: unknown, of: string) {
    if (!isRecord(value)) throw new ProtocolError(`Cannot read ${of}: it is not an object`);
    this.value = value;
    this.#of = of;
  }

  text(name: string, maxLength: number): string {
    const it = this.value[name];
    return typeof it === "string" && it.length <= maxLength ? it : this.#refuse(name);
  }

  id(name = "id"): string {
    const it = this.text(name, ID_CHARS);
    return isId(it) ? it : this.#refuse(name);
  }

  amount(name: string): number {
    const it = this.value[name];
    return typeof it === "number" && it >= 0 && isFinite(it) ? it : this.#refuse(name);
  }

  flag(name: string): boolean {
    const it = this.value[name];
    return typeof it === "boolean" ? it : this.#refuse(name);
  }

  oneOf<T extends string | number>(name: string, choices: readonly T[]): T {
    for (let i = 0; i < choices.length; i++) if (choices[i] === this.value[name]) return choices[i]!;
    return this.#refuse(name);
  }

  list(name: string, maxLength: number): readonly unknown[] {
    const it = this.value[name];
    return isArray(it) && it.length <= maxLength ? it : this.#refuse(name);
  }

  texts(name: string, max: { readonly items: number; readonly length: number }): string[] {
    const list = this.list(name, max.items);
    for (let i = 0; i < list.length; i++) {
      const it = list[i];
      if (typeof it !== "string" || it.length > max.length) return this.#refuse(name);
    }
    return list as string[];
  }

  bytes(name: string): Bytes {
    const it = this.value[name];
    const isPlain = it instanceof BytesOf && isArrayBuffer(viewBuffer(it));
    return isPlain ? part(it as Bytes, 0, viewLength(it)) : this.#refuse(name);
  }

  nullable<T>(name: string, read: (name: string) => T): T | null {
    return this.value[name] === null ? null : read(name);
  }

  #refuse(name: string): never {
    throw new ProtocolError(`Cannot read ${this.#of}: its field "${name}" is not valid`);
  }
}

function isId(text: string): boolean {
  if (text.length !== ID_CHARS) return false;
  for (let i = 0; i < ID_CHARS; i++) {
    const code = intrinsics.charCodeAt(text, i);
    if (!(code >= 48 && code <= 57) && !(code >= 97 && code <= 102)) return false;
  }
  return true;
}

/** Values get half of a frame, so that names, sources and summaries fit into the other half. */
const PART_BYTES = MAX_PAYLOAD_BYTES / 2;
const OVERHEAD_BYTES = 500;

/** Variables that share a table stay in one part, so that the frame contains the table once. */
export function imageParts(images: readonly VariableImage[]): VariableImage[][] {
  const parts: VariableImage[][] = [];
  let part: VariableImage[] = [], size = 0, last: VariableImage | null = null;
  for (let i = 0; i < images.length; i++) {
    const image = images[i];
    if (!image) continue;
    const length = viewLength(image.bytes);
    const shared = last !== null && length > 0 && image.bytes === last.bytes;
    const bytes = (shared ? 0 : length) + 2 * image.source.length + OVERHEAD_BYTES;
    if (part.length > 0 && size + bytes > PART_BYTES && !shared) {
      add(parts, part);
      part = [];
      size = 0;
    }
    add(part, image);
    size += bytes;
    last = image;
  }
  if (part.length > 0 || parts.length === 0) add(parts, part);
  return parts;
}

/** Defines the item, because a block may have replaced `push` or defined a setter on `Array.prototype`. */
function add<T>(list: T[], item: T): void {
  defineProperty(list, list.length, { value: item, writable: true, enumerable: true, configurable: true });
}

const KINDS: readonly VariableKind[] = ["data", "function", "class", "instance", "pending", "lost"];
const MAX_IMAGES = 100_000, MAX_NAME = 1000, MAX_SOURCE = 16 << 20, MAX_REASON = 2000;

export function imageList(value: unknown): VariableImage[] {
  return new FrameFields({ images: value }, "variables").list("images", MAX_IMAGES).map(image);
}

function image(value: unknown): VariableImage {
  const fields = new FrameFields(value, "variable");
  return {
    name: fields.text("name", MAX_NAME),
    kind: fields.oneOf("kind", KINDS),
    bytes: fields.bytes("bytes"),
    root: fields.nullable("root", (name) => fields.text(name, MAX_NAME)),
    source: fields.text("source", MAX_SOURCE),
    requires: fields.texts("requires", { items: MAX_IMAGES, length: MAX_NAME }),
    reason: fields.text("reason", MAX_REASON),
    summary: summary(fields.value["summary"]),
  };
}

function summary(value: unknown): VariableSummary {
  const fields = new FrameFields(value, "summary");
  return {
    declaration: fields.text("declaration", 20),
    type: fields.text("type", MAX_NAME),
    size: fields.nullable("size", (name) => fields.amount(name)),
    shape: fields.text("shape", MAX_NAME),
    inline: fields.nullable("inline", (name) => fields.text(name, MAX_NAME)),
    doc: fields.text("doc", MAX_NAME),
  };
}

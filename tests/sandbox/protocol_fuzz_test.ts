import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Bytes,
  type Frame,
  frameHead,
  FrameReader,
  MAX_HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  ProtocolError,
  readFrameSync,
} from "../../src/sandbox/protocol.ts";
import { runs } from "../helpers/long_part.ts";

/** Runs end in time on a slow machine. A failure prints its seed and path, which repeat it. */
const BOUNDED = { numRuns: runs(75, 300), interruptAfterTimeLimit: 8000, markInterruptAsFailure: false } as const;

const bytesOf = ({ header, payload }: Frame): Bytes => {
  const head = frameHead({ header, payloadBytes: payload.length });
  return new Uint8Array([...head, ...payload]);
};
const frame = fc.record({
  header: fc.record({ t: fc.stringMatching(/^[a-z]{1,12}$/), id: fc.stringMatching(/^[0-9a-f]{32}$/) }),
  payload: fc.uint8Array({ maxLength: 400 }),
}).map(({ header, payload }): Frame => ({ header: { ...header }, payload: new Uint8Array(payload) }));

interface Read {
  readonly frames: readonly Frame[];
  readonly error: unknown;
  readonly inFrame: boolean;
}

/** Reads in pieces of the given sizes, repeatedly. A reader that has thrown is not used again. */
function read(bytes: Bytes, sizes: readonly number[]): Read {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  let at = 0;
  try {
    for (let i = 0; at < bytes.length; i++) {
      const size = 1 + (sizes[i % sizes.length] ?? 0);
      reader.push(bytes.subarray(at, at + size), (it) => frames.push(it));
      at += size;
    }
    return { frames, error: null, inFrame: reader.inFrame };
  } catch (error) {
    return { frames, error, inFrame: reader.inFrame };
  }
}

/** The other side's reader takes one frame by blocking. */
function readSync(
  bytes: Uint8Array,
  sizes: readonly number[],
): { readonly frame: Frame | null; readonly error: unknown } {
  let at = 0, turn = 0;
  const into = (target: Uint8Array): number | null => {
    const size = Math.min(1 + (sizes[turn++ % sizes.length] ?? 0), target.length, bytes.length - at);
    if (size === 0) return null;
    target.set(bytes.subarray(at, at += size));
    return size;
  };
  try {
    const { header, payload } = readFrameSync(into);
    return { frame: { header, payload }, error: null };
  } catch (error) {
    return { frame: null, error };
  }
}

function onlyProtocolErrors(error: unknown): void {
  if (error !== null) assert.ok(error instanceof ProtocolError, String(error));
}

const sizes = fc.array(fc.nat(200), { minLength: 1, maxLength: 8 });

Deno.test("FrameReader throws only ProtocolError, whatever bytes arrive", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), sizes, (rest, cuts) => {
      const bytes = new Uint8Array(rest);
      onlyProtocolErrors(read(bytes, cuts).error);
      onlyProtocolErrors(readSync(bytes, cuts).error);
    }),
    BOUNDED,
  );
});

Deno.test("FrameReader returns no frame of a truncated stream, and reports that one has begun", () => {
  fc.assert(
    fc.property(frame, fc.nat(), sizes, (it, where, cuts) => {
      const bytes = bytesOf(it);
      const cut = where % bytes.length;
      const { frames, error, inFrame } = read(bytes.subarray(0, cut), cuts);
      assert.deepEqual([frames.length, error, inFrame], [0, null, cut > 0]);
      assert.ok(readSync(bytes.subarray(0, cut), cuts).error instanceof ProtocolError);
    }),
    BOUNDED,
  );
});

Deno.test("FrameReader gives the frames before a flipped bit as they were, and no more of another length", () => {
  fc.assert(
    fc.property(fc.array(frame, { minLength: 1, maxLength: 4 }), fc.nat(), sizes, (list, where, cuts) => {
      const parts = list.map(bytesOf);
      const bytes = new Uint8Array(parts.flatMap((part) => [...part]));
      const bit = where % (bytes.length * 8);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      const { frames, error } = read(bytes, cuts);
      onlyProtocolErrors(error);
      let whole = 0;
      for (let end = 0; whole < parts.length && (end += parts[whole]!.length) <= bit >> 3; whole++);
      assert.deepEqual(frames.slice(0, whole), list.slice(0, whole));
      assert.ok(frames.length <= list.length);
    }),
    BOUNDED,
  );
});

Deno.test("FrameReader takes memory for a lying length once, within the limits", () => {
  const size = fc.oneof(fc.nat(0xffffffff), fc.constantFrom(0, 1, MAX_HEADER_BYTES, MAX_HEADER_BYTES + 1, 0xffffffff));
  const other = fc.oneof(fc.nat(0xffffffff), fc.constantFrom(0, 1, MAX_PAYLOAD_BYTES, MAX_PAYLOAD_BYTES + 1));
  fc.assert(
    fc.property(size, other, (headerBytes, payloadBytes) => {
      const bytes: Bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setUint32(0, headerBytes, true);
      new DataView(bytes.buffer).setUint32(4, payloadBytes, true);
      const allowed = headerBytes > 0 && headerBytes <= MAX_HEADER_BYTES && payloadBytes <= MAX_PAYLOAD_BYTES;
      const { error, frames } = read(bytes, [100]);
      assert.equal(error === null, allowed);
      assert.equal(frames.length, 0);
    }),
    BOUNDED,
  );
});

Deno.test("FrameReader ends a header without an end at its announced length", () => {
  const reader = new FrameReader();
  const head: Bytes = new Uint8Array(8);
  new DataView(head.buffer).setUint32(0, MAX_HEADER_BYTES, true);
  reader.push(head, () => assert.fail("a frame"));
  const chunk = new Uint8Array(1 << 16).fill(0x20);
  let pushed = 0;
  assert.throws(() => {
    for (; pushed < 2 * MAX_HEADER_BYTES; pushed += chunk.length) reader.push(chunk, () => assert.fail("a frame"));
  }, ProtocolError);
  assert.ok(pushed < MAX_HEADER_BYTES);
});

Deno.test("FrameReader reads headers of any JSON without being led astray by its names", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), sizes, (value, cuts) => {
      const json = new TextEncoder().encode(JSON.stringify(value));
      const bytes: Bytes = new Uint8Array(8 + json.length);
      new DataView(bytes.buffer).setUint32(0, json.length, true);
      bytes.set(json, 8);
      const { frames, error } = read(bytes, cuts);
      onlyProtocolErrors(error);
      const [only] = frames;
      if (only) assert.equal(typeof only.header.t, "string");
      assert.equal(Object.getPrototypeOf({}), Object.prototype);
      assert.equal(Reflect.get({}, "polluted"), undefined);
    }),
    BOUNDED,
  );
});

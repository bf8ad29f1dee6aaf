import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Bytes,
  type Frame,
  FrameFields,
  frameHead,
  FrameReader,
  type Header,
  MAX_HEADER_BYTES,
  MAX_PAYLOAD_BYTES,
  ProtocolError,
  readFrameSync,
  wireId,
} from "../../src/sandbox/protocol.ts";

function bytesOf(frames: readonly Frame[]): Bytes {
  const parts = frames.flatMap(({ header, payload }) => [
    frameHead({ header, payloadBytes: payload.length }),
    payload,
  ]);
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function readInPieces(bytes: Bytes, cuts: readonly number[]): Frame[] {
  const frames: Frame[] = [];
  const reader = new FrameReader();
  const places = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let from = 0;
  for (const to of places) {
    reader.push(bytes.subarray(from, to), (frame) => frames.push(frame));
    from = to;
  }
  assert.equal(reader.inFrame, false);
  return frames;
}

const frame = fc.record({
  header: fc.record({ t: fc.string({ maxLength: 30 }), id: fc.string(), n: fc.double({ noNaN: true }) }),
  payload: fc.uint8Array({ maxLength: 300 }),
}).map(({ header, payload }): Frame => ({
  header: JSON.parse(JSON.stringify(header)),
  payload: new Uint8Array(payload),
}));

Deno.test("FrameReader returns the same frames however the bytes are cut", () => {
  fc.assert(fc.property(fc.array(frame, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 20 }), (frames, cuts) => {
    assert.deepEqual(readInPieces(bytesOf(frames), cuts), frames);
  }));
});

Deno.test("FrameReader reads byte by byte", () => {
  const frames: Frame[] = [{ header: { t: "a" }, payload: new Uint8Array([1, 2]) }, {
    header: { t: "b" },
    payload: new Uint8Array(0),
  }];
  const bytes = bytesOf(frames);
  assert.deepEqual(readInPieces(bytes, [...bytes.keys()]), frames);
});

Deno.test("FrameReader refuses text that a launcher or a library printed", () => {
  fc.assert(fc.property(fc.stringMatching(/^[\n -~]{8,200}$/), (text) => {
    const read = () => new FrameReader().push(new TextEncoder().encode(text), () => assert.fail("a frame"));
    assert.throws(read, ProtocolError);
  }));
});

Deno.test("FrameReader knows that a frame was cut off", () => {
  const bytes = bytesOf([{ header: { t: "a" }, payload: new Uint8Array(10) }]);
  for (let length = 1; length < bytes.length; length++) {
    const reader = new FrameReader();
    reader.push(bytes.subarray(0, length), () => assert.fail("a frame"));
    assert.equal(reader.inFrame, true, `${length} bytes`);
  }
});

function lengths(header: number, payload: number): Bytes {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, header, true);
  new DataView(bytes.buffer).setUint32(4, payload, true);
  return bytes;
}

Deno.test("FrameReader refuses lengths over the limits before it takes memory for them", () => {
  for (
    const [header, payload] of [
      [0, 0],
      [MAX_HEADER_BYTES + 1, 0],
      [1, MAX_PAYLOAD_BYTES + 1],
      [0xffffffff, 0],
      [2, 0xffffffff],
    ] as const
  ) {
    assert.throws(() => new FrameReader().push(lengths(header, payload), () => {}), ProtocolError);
    let at = 0;
    const bytes = lengths(header, payload);
    const read = (into: Uint8Array): number => {
      into.set(bytes.subarray(at, at += into.length));
      return into.length;
    };
    assert.throws(() => readFrameSync(read), ProtocolError);
  }
});

Deno.test("FrameReader refuses headers that are no JSON object with a type", () => {
  for (const text of ["", "{", "null", "[]", "3", '"x"', "{}", '{"t":1}', '{"t":null}', '{"t":"a"', "\u0000"]) {
    const json = new TextEncoder().encode(text);
    const bytes = new Uint8Array(8 + json.length);
    bytes.set(lengths(json.length, 0));
    bytes.set(json, 8);
    assert.throws(() => new FrameReader().push(bytes, () => assert.fail("a frame")), ProtocolError, text);
  }
  const notUtf8 = new Uint8Array([...lengths(2, 0), 0xff, 0xfe]);
  assert.throws(() => new FrameReader().push(notUtf8, () => {}), ProtocolError);
});

Deno.test("frameHead refuses the same frames as the other side", () => {
  const header: Header = { t: "x", text: "y".repeat(MAX_HEADER_BYTES) };
  assert.throws(() => frameHead({ header, payloadBytes: 0 }), RangeError);
  assert.throws(() => frameHead({ header: { t: "x" }, payloadBytes: MAX_PAYLOAD_BYTES + 1 }), RangeError);
});

Deno.test("readFrameSync reads one frame and fails at the end of input", () => {
  const bytes = bytesOf([{ header: { t: "setup" }, payload: new Uint8Array([5]) }]);
  const reader = (end: number) => {
    let at = 0;
    return (into: Uint8Array): number | null => {
      const part = bytes.subarray(at, Math.min(at + Math.min(into.length, 3), end));
      at += part.length;
      into.set(part);
      return part.length || null;
    };
  };
  const { header, payload } = readFrameSync(reader(bytes.length));
  assert.deepEqual([header, [...payload]], [{ t: "setup" }, [5]]);
  assert.throws(() => readFrameSync(reader(bytes.length - 1)), ProtocolError);
});

Deno.test("wireId() gives identifiers that Fields takes, each another", () => {
  const ids = new Set(Array.from({ length: 1000 }, wireId));
  assert.equal(ids.size, 1000);
  for (const id of ids) assert.equal(new FrameFields({ id }, "x").id(), id);
});

Deno.test("Fields refuses every value of another type than requested", () => {
  const junk = [undefined, null, 1, -1, NaN, Infinity, "x", true, [], {}, [1], "a".repeat(100), new Uint8Array(1)];
  const readers: Record<
    string,
    { readonly read: (fields: FrameFields) => unknown; readonly ok: (it: unknown) => boolean }
  > = {
    text: { read: (f) => f.text("v", 10), ok: (it) => typeof it === "string" && it.length <= 10 },
    id: { read: (f) => f.id("v"), ok: () => false },
    amount: { read: (f) => f.amount("v"), ok: (it) => it === 1 },
    flag: { read: (f) => f.flag("v"), ok: (it) => it === true },
    oneOf: { read: (f) => f.oneOf("v", ["x", 1]), ok: (it) => it === "x" || it === 1 },
    list: { read: (f) => f.list("v", 0), ok: (it) => Array.isArray(it) && it.length === 0 },
    texts: { read: (f) => f.texts("v", { items: 1, length: 1 }), ok: (it) => Array.isArray(it) && it.length === 0 },
    bytes: { read: (f) => f.bytes("v"), ok: (it) => it instanceof Uint8Array },
  };
  for (const [name, { read, ok }] of Object.entries(readers)) {
    for (const v of junk) {
      const run = () => read(new FrameFields({ v }, "test"));
      if (ok(v)) assert.doesNotThrow(run, `${name} of ${String(v)}`);
      else assert.throws(run, ProtocolError, `${name} of ${String(v)}`);
    }
  }
  for (const v of [null, undefined, 1, "x", []]) assert.throws(() => new FrameFields(v, "test"), ProtocolError);
});

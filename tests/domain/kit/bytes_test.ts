import { ByteBuffer, joinBytes, readBounded } from "../../../src/domain/kit/bytes.ts";
import assert from "node:assert/strict";

Deno.test("ByteBuffer keeps pieces of any size as one, and copies them", () => {
  const buffer = new ByteBuffer();
  const piece = new Uint8Array([1, 2]);
  buffer.push(new Uint8Array());
  for (let value = 0; value < 100_000; value++) {
    piece.fill(value % 251);
    buffer.push(piece);
  }
  assert.equal(buffer.length, 200_000);
  assert.deepEqual([...buffer.bytes.subarray(-4)], [99_998 % 251, 99_998 % 251, 99_999 % 251, 99_999 % 251]);
  assert.ok(buffer.bytes.buffer.byteLength <= 400_000);
});

Deno.test("ByteBuffer keeps the newest bytes, or none", () => {
  const buffer = new ByteBuffer();
  buffer.push(new Uint8Array([1, 2, 3, 4, 5]));
  buffer.keepLast(9);
  assert.equal(buffer.length, 5);
  buffer.keepLast(2);
  buffer.push(new Uint8Array([6]));
  assert.deepEqual([...buffer.bytes], [4, 5, 6]);
  buffer.clear();
  assert.deepEqual([buffer.length, buffer.bytes.length], [0, 0]);
});

const bytes = (...values: readonly number[]) => Uint8Array.from(values);

Deno.test("joinBytes() puts parts one after the other, in a buffer of their own", () => {
  const first = bytes(1, 2);
  const whole = joinBytes([first, bytes(), bytes(3)]);
  assert.deepEqual(whole, bytes(1, 2, 3));
  whole[0] = 9;
  assert.equal(first[0], 1);
  assert.equal(joinBytes([]).length, 0);
});

Deno.test("readBounded() stops reading at the first part over the bound", async () => {
  let asked = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      asked++;
      controller.enqueue(bytes(1, 2, 3, 4));
    },
  }, { highWaterMark: 0 });
  const tooLarge = () => new RangeError("too large");
  await assert.rejects(readBounded(endless, { maxBytes: 9, tooLarge }), /too large/);
  assert.equal(asked, 3);
  assert.deepEqual(
    await readBounded(ReadableStream.from([bytes(1), bytes(2)]), { maxBytes: 2, tooLarge }),
    bytes(1, 2),
  );
});

Deno.test("readBounded() abandons a stalled stream when its signal is aborted", async () => {
  const controller = new AbortController();
  let isCancelled = false;
  const silent = new ReadableStream<Uint8Array>({
    start: (stream) => stream.enqueue(bytes(1)),
    pull: () => controller.abort(new RangeError("given up")),
    cancel: () => void (isCancelled = true),
  }, { highWaterMark: 0 });
  const tooLarge = () => new Error("too large");
  await assert.rejects(readBounded(silent, { maxBytes: 9, tooLarge, signal: controller.signal }), /given up/);
  assert.ok(isCancelled);
});

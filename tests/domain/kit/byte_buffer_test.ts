import assert from "node:assert/strict";
import { ByteBuffer } from "../../../src/domain/kit/byte_buffer.ts";

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

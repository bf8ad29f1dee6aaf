import assert from "node:assert/strict";
import { joinBytes } from "../../../src/domain/kit/join_bytes.ts";
import { readBounded } from "../../../src/domain/kit/read_bounded.ts";

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

Deno.test("readBounded() gives a stream up that goes on no longer when its signal is aborted", async () => {
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

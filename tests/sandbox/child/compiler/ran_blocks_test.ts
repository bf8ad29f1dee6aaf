import assert from "node:assert/strict";
import { RanBlocks } from "../../../../src/sandbox/child/compiler/errors.ts";

const place = { iteration: 1, index: 0 };
const block = (length: number) => ({ code: "x".repeat(length), source: "x".repeat(length), map: [0, 0, length] });

function keptOf(length: number, count: number): number {
  const blocks = new RanBlocks();
  const files = Array.from({ length: count }, () => blocks.add(block(length), place).file);
  const found = files.map((file) => blocks.find(file) !== null);
  assert.ok(found.at(-1));
  assert.deepEqual(found, found.toSorted(), "the newest are kept");
  return found.filter(Boolean).length;
}

Deno.test("RanBlocks keeps about a thousand small blocks, however many ran, and fewer large ones", () => {
  const small = keptOf(5, 5000);
  assert.ok(small > 900 && small < 1100, String(small));
  assert.equal(keptOf(200_000, 20), 2);
  assert.equal(keptOf(2_000_000, 3), 1, "the one that runs, whatever its size");
});

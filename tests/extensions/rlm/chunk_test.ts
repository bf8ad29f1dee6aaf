import assert from "node:assert/strict";
import fc from "fast-check";
import { chunk } from "../../../extensions/rlm/chunks.ts";

Deno.test("chunk() gives pieces within the size that join to the text, no pair cut", () => {
  const text = fc.string({ unit: fc.constantFrom("a", " ", "\n", "é", "😀"), maxLength: 2_000 });
  fc.assert(fc.property(text, fc.integer({ min: 100, max: 400 }), (given, size) => {
    const pieces = chunk(given, { size });
    assert.equal(pieces.join(""), given);
    for (const piece of pieces) {
      assert.ok(piece.length > 0 && piece.length <= size);
      assert.ok(piece.isWellFormed());
    }
  }));
});

Deno.test("chunk() cuts at line ends, else at blanks", () => {
  const lines = `${"a".repeat(90)}\n${"b ".repeat(60)}`;
  const [first, second] = chunk(lines, { size: 100 });
  assert.equal(first, `${"a".repeat(90)}\n`);
  assert.ok(second?.endsWith(" "));
});

Deno.test("chunk() repeats the overlap and comes to an end", () => {
  const text = "0123456789".repeat(100);
  const pieces = chunk(text, { size: 100, overlap: 50 });
  assert.ok(pieces.every((piece, at) => at === 0 || piece.startsWith(pieces[at - 1]!.slice(-50))));
  assert.equal(pieces.at(-1)?.at(-1), "9");
  assert.throws(
    () => chunk(text, { size: 100, overlap: 60 }),
    /^RangeError: Cannot cut the text: the overlap is 60, and the limit is half of the size, 50/,
  );
  assert.deepEqual(chunk(""), []);
});

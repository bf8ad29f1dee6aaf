import assert from "node:assert/strict";
import fc from "fast-check";
import { clip, oneLine } from "../../../src/domain/text/clip.ts";

Deno.test("clip() keeps what fits and says how much it left out", () => {
  assert.equal(clip("abc", 3), "abc");
  assert.equal(clip("x".repeat(100), 50), `${"x".repeat(26)}… (+74 chars)`);
});

Deno.test("clip() stays within the limit, keeps the head and never halves a character", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), fc.integer({ min: 24, max: 200 }), (text, limit) => {
      const clipped = clip(text, limit);
      assert.ok(clipped.length <= limit || clipped === text);
      assert.ok(clipped.isWellFormed());
      const left = /… \(\+(\d+) chars\)$/.exec(clipped);
      if (text.length > limit) assert.equal(clipped.length - (left?.[0].length ?? 0) + Number(left?.[1]), text.length);
      else assert.equal(clipped, text);
    }),
  );
});

Deno.test("oneLine() joins lines, and marks what it cut", () => {
  assert.equal(oneLine("  a\n\t b  \r\n", 10), "a b");
  assert.equal(oneLine("abcdef", 4), "abc…");
  assert.equal(oneLine(`a${" ".repeat(500)}b`, 100), "a…");
  assert.equal(oneLine("😀".repeat(10), 4), "😀…");
});

Deno.test("oneLine() never exceeds the limit by more than its mark and holds no line end", () => {
  fc.assert(fc.property(fc.string({ maxLength: 400 }), fc.integer({ min: 1, max: 50 }), (text, limit) => {
    const line = oneLine(text, limit);
    assert.ok(line.length <= limit && !/[\n\r]/.test(line));
  }));
});

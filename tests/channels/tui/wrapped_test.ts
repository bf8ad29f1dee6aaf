import assert from "node:assert/strict";
import fc from "fast-check";
import { visibleWidth } from "@earendil-works/pi-tui";
import { wrapped } from "../../../src/channels/tui/wrapped.ts";

const GRAPHEMES = new Intl.Segmenter();
const ANY = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

Deno.test("wrapped() keeps short lines as they are, wraps long ones, and widens tabs", () => {
  assert.deepEqual(wrapped("one\n\ntwo three four\n\tx", 9), ["one", "", "two three", "four", "    x"]);
});

Deno.test("wrapped() tells what it leaves out", () => {
  const text = Array.from({ length: 30 }, (_, n) => `line ${n}`).join("\n");
  assert.deepEqual(wrapped(text, 40, { most: 2 }).at(-1), "… 28 more lines (Ctrl-O)");
  assert.deepEqual(wrapped("x".repeat(30_000), 10, { most: 2 }), ["x".repeat(10), "x".repeat(10), "… more (Ct"]);
  assert.deepEqual(wrapped("a\nb", 10, { most: 2 }), ["a", "b"]);
});

Deno.test("wrapped() reads no more of megabytes than is shown", () => {
  const began = performance.now();
  assert.equal(wrapped("日本語 text ".repeat(2_000_000), 80, { most: 8 }).length, 9);
  assert.ok(performance.now() - began < 1_000);
});

Deno.test("wrapped() is never wider than asked for and never commands the terminal", () => {
  fc.assert(fc.property(fc.string({ unit: ANY }), fc.integer({ min: 2, max: 30 }), (text, width) => {
    for (const line of wrapped(text, width, { most: 5 })) {
      // A character that is wider than the line by itself stands alone on it.
      if ([...GRAPHEMES.segment(line)].length > 1) assert.ok(visibleWidth(line) <= width, JSON.stringify(line));
      // deno-lint-ignore no-control-regex
      assert.doesNotMatch(line, /[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/);
    }
  }));
});

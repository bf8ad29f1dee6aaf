import assert from "node:assert/strict";
import fc from "fast-check";
import { visibleWidth } from "@earendil-works/pi-tui";
import { wrapped } from "../../../../src/channels/tui/text/wrapped.ts";
import { cpuMs } from "../../../helpers/cpu_ms.ts";

/** Any code unit, and more often what takes an odd number of columns. */
const ANY = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
  fc.constantFrom(
    "\u0903",
    "\u0301",
    "\ufe0f",
    "\u200d",
    "\u20e3",
    "\u0e33",
    "क",
    "्",
    "☺",
    "1",
    " ",
    "ｱ",
    "ﾞ",
    "😀",
    "🇩",
  ),
);

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
  const began = cpuMs();
  assert.equal(wrapped("日本語 text ".repeat(2_000_000), 80, { most: 8 }).length, 9);
  assert.ok(cpuMs() - began < 1_000);
});

Deno.test("wrapped() is never wider than asked for and never commands the terminal", () => {
  fc.assert(
    fc.property(fc.string({ unit: ANY, maxLength: 60 }), fc.integer({ min: 1, max: 30 }), (text, width) => {
      for (const line of wrapped(text, width, { most: 5 })) {
        assert.ok(visibleWidth(line) <= width || (width === 1 && [...line].length === 1), JSON.stringify(line));
        // deno-lint-ignore no-control-regex
        assert.doesNotMatch(line, /[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/);
      }
    }),
    { numRuns: 500, examples: [[`a${"\u0903".repeat(60)} b`, 7], ["⺀ఁ", 2], ["☺\ufe0f👨‍👩‍👧‍👦🇩🇪", 1]] },
  );
});

Deno.test("wrapped() goes on in the next line with a character that is wider than one, and loses nothing of it", () => {
  const wide = `a${"\u0903".repeat(60)}`;
  const lines = wrapped(`x ${wide} y`, 20);
  assert.equal(lines.join("").replaceAll(" ", ""), `x${wide}y`);
  assert.deepEqual(lines.map(visibleWidth), [1, 20, 20, 20, 1, 1]);
  const began = cpuMs();
  wrapped(`a${"\u0301".repeat(15_000)}${"\u0903".repeat(4_000)}`, 80);
  assert.ok(cpuMs() - began < 1_000);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { visibleText } from "../../../src/domain/text/visible_text.ts";

Deno.test("visibleText() shows what commands a terminal or turns text around as escapes, and keeps the rest", () => {
  assert.equal(visibleText("a\tb\nc\r\nd — é 😀"), "a\tb\nc\nd — é 😀");
  assert.equal(visibleText("\x1b[2J\x07\x7f\u009b\r"), "\\u001b[2J\\u0007\\u007f\\u009b\\u000d");
  assert.equal(visibleText("\u202eabc\u2066\u2028"), "\\u202eabc\\u2066\\u2028");
});

Deno.test("visibleText() of JSON is JSON of the same value", () => {
  const value = { text: "\x1b\u009b\u202e\u2028\x7f\ud800" };
  assert.deepEqual(JSON.parse(visibleText(JSON.stringify(value))), value);
});

Deno.test("visibleText() lets no control character through", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assert.doesNotMatch(visibleText(text), /[^\P{Cc}\t\n]/u);
  }));
});

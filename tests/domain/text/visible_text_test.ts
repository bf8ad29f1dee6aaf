import assert from "node:assert/strict";
import fc from "fast-check";
import { clean } from "../../../src/page/text/clean.ts";
import { visibleText } from "../../../src/domain/text/visible_text.ts";

Deno.test("visibleText() shows what commands a terminal or turns text around as escapes, and keeps the rest", () => {
  assert.equal(visibleText("a\tb\nc\r\nd — é 😀"), "a\tb\nc\nd — é 😀");
  assert.equal(visibleText("\x1b[2J\x07\x7f\u009b\r"), "\\u001b[2J\\u0007\\u007f\\u009b\\u000d");
  assert.equal(visibleText("\u202eabc\u2066\u2028"), "\\u202eabc\\u2066\\u2028");
});

const SHOWN = [
  "👩\u200d👩\u200d👧\u200d👦 🏳️\u200d🌈 🕵🏽\u200d♂️ ❤\ufe0f ✔\ufe0e 1\ufe0f\u20e3",
  "葛\u{e0100}城 é e\u0301 日本 한국 العربية 🇩🇪",
];
const HIDDEN = [
  ..."\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2064\u2066\u2069\u3164\ufe0f\ufeff",
  ..."\uffa0\ufff9\u{e0001}\u{e0041}\u{e007f}\u{e0100}",
];

Deno.test("visibleText() and the page show what nobody sees, and keep sequences of emoji", () => {
  for (const text of SHOWN) assert.deepEqual([visibleText(text), clean(text)], [text, text]);
  for (const char of HIDDEN) {
    const units = JSON.stringify(Array.from({ length: char.length }, (_, at) => char.charCodeAt(at)));
    assert.match(visibleText(`a${char}b`), /^a(\\u[0-9a-f]{4}){1,2}b$/, units);
    assert.match(clean(`a${char}b`), /^a‹U\+[0-9A-F]+›b$/, units);
  }
  assert.equal(visibleText("👩\u200d"), "👩\\u200d");
  assert.equal(visibleText("\u200d👩"), "\\u200d👩");
  assert.equal(visibleText("👩\u200db"), "👩\\u200db");
  assert.equal(visibleText("❤\ufe0f\ufe0f"), "❤\ufe0f\\ufe0f");
  assert.equal(visibleText("1\ufe0f"), "1\\ufe0f");
});

Deno.test("visibleText() and the page agree about every character", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    const same = text.replaceAll("\r\n", "\n");
    assert.equal(visibleText(text) === same, clean(text) === same);
  }));
});

Deno.test("visibleText() changes nothing more the second time", () => {
  for (const char of HIDDEN) assert.equal(visibleText(visibleText(char)), visibleText(char));
});

Deno.test("visibleText() of JSON is JSON of the same value", () => {
  const value = { text: "\x1b\u009b\u202e\u2028\x7f\ud800\u200b\u{e0041}" };
  assert.deepEqual(JSON.parse(visibleText(JSON.stringify(value))), value);
});

Deno.test("visibleText() lets no control character through", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assert.doesNotMatch(visibleText(text), /[^\P{Cc}\t\n]/u);
  }));
});

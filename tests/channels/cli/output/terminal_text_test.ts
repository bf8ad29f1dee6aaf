import assert from "node:assert/strict";
import fc from "fast-check";
import { terminalText } from "../../../../src/channels/cli/output/terminal_text.ts";

Deno.test("terminalText() leaves text alone, tabs and line ends included", () => {
  const text = "a\tb\nżółw 🐢 → “quoted” \u00a0 [31m";
  assert.equal(terminalText(text), text);
  assert.equal(terminalText("a\r\nb"), "a\nb");
});

Deno.test("terminalText() shows what commands a terminal as its escape", () => {
  assert.equal(terminalText("\x1b[2J\x07\r\x7f\x9b1m\u202e"), "\\u001b[2J\\u0007\\u000d\\u007f\\u009b1m\\u202e");
});

Deno.test("terminalText() lets no control character through", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assert.doesNotMatch(terminalText(text), /[^\P{Cc}\t\n]/u);
  }));
});

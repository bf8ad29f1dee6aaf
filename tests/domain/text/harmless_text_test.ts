import assert from "node:assert/strict";
import { harmlessText } from "../../../src/domain/text/harmless_text.ts";

Deno.test("harmlessText() escapes what controls a terminal, and keeps the joiners that people write", () => {
  assert.equal(
    harmlessText("\x1b[2J\x07\x7f\u009b\r\u202e\u2028\r\n"),
    "\\u001b[2J\\u0007\\u007f\\u009b\\u000d\\u202e\\u2028\n",
  );
  const written = "می\u200cخواهم क्\u200dष 👩\u200d💻";
  assert.equal(harmlessText(written), written);
});

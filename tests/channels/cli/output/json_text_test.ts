import assert from "node:assert/strict";
import { jsonText } from "../../../../src/channels/cli/output.ts";

Deno.test("jsonText() is JSON of the same value, without characters that command a terminal or hide", () => {
  const value = { answer: "a\u009b2J\u202e\u200b\u{e0041}\r\n👩\u200d💻" };
  const text = jsonText(value);
  assert.equal(text, '{"answer":"a\\u009b2J\\u202e\\u200b\\udb40\\udc41\\r\\n👩\u200d💻"}\n');
  assert.deepEqual(JSON.parse(text), value);
  assert.deepEqual(JSON.parse(jsonText(value, { indent: 2 })), value);
  assert.equal(jsonText([1], { indent: 2 }), "[\n  1\n]\n");
});

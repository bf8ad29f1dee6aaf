import assert from "node:assert/strict";
import fc from "fast-check";
import { codeTokens } from "../../../src/domain/text/code_tokens.ts";

const ANY = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

Deno.test("codeTokens() tells comments, strings, keywords and numbers apart, also where they do not end", () => {
  const code = 'const a = "x // y"; // 1\nreturn 42 + `open';
  const told = [...codeTokens(code)].filter(({ kind }) => kind !== "plain").map(({ kind, text }) => `${kind} ${text}`);
  assert.deepEqual(told, [
    ...["keyword const", 'string "x // y"', "comment // 1", "keyword return", "number 42", "string `open"],
  ]);
});

Deno.test("codeTokens() leaves nothing out of any text", () => {
  fc.assert(fc.property(fc.string({ unit: ANY }), (code) => {
    assert.equal([...codeTokens(code)].map(({ text }) => text).join(""), code);
  }));
});

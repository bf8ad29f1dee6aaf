import assert from "node:assert/strict";
import { moduleTokens } from "../../scripts/module_tokens.ts";
import { tokenDifference } from "../../scripts/token_difference.ts";

const between = (one: string, other: string): string | null => tokenDifference(moduleTokens(one), moduleTokens(other));

Deno.test("tokenDifference() ignores differences of spaces and comments", () => {
  assert.equal(between("a = b + c;\n\n  d()", "/* x */ a=b+c;\nd()"), null);
});

Deno.test("tokenDifference() names the first token that is read otherwise", () => {
  assert.equal(between("a + +b", "a++\nb"), "+");
  assert.equal(between("a = 'x  y'", "a = 'x y'"), "'x  y'");
  assert.equal(between("a = `x  y`", "a = `x y`"), "x  y");
  assert.equal(between("a; b", "a;"), "b");
  assert.equal(between("a;", "a; b"), "");
});

Deno.test("tokenDifference() names a token that moved to another line, or to the line of the one before", () => {
  assert.equal(between("a\n++\nb", "a++\nb"), "++");
  assert.equal(between("() => { return a }", "() => { return\na }"), "a");
});

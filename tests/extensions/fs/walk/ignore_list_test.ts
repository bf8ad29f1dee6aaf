import assert from "node:assert/strict";
import fc from "fast-check";
import ignore from "ignore";
import { IgnoreList } from "../../../../extensions/fs/walk/walk.ts";
import { cpuMs } from "../../../helpers/cpu_ms.ts";
import { runs } from "../../../helpers/long_part.ts";

/** Asks as a walk does: an ignored folder ends it. */
function ignores(list: IgnoreList, path: string): boolean {
  const isFolder = path.endsWith("/");
  const parts = path.replace(/\/$/, "").split("/");
  return parts.some((_, at) =>
    list.decide(parts.slice(0, at + 1).join("/"), at < parts.length - 1 || isFolder) === true
  );
}

Deno.test("IgnoreList reads rules as the library does that everybody uses", () => {
  const part = fc.constantFrom("a", "b", "ab", "*", "a*", "*b", "?", "[ab]", "[!a]", "**", "a?b", "\\*");
  const rule = fc.tuple(
    fc.constantFrom("", "!"),
    fc.constantFrom("", "/"),
    fc.array(part, { minLength: 1, maxLength: 3 }),
    fc.constantFrom("", "/"),
  ).map(([not, root, parts, end]) => `${not}${root}${parts.join("/")}${end}`);
  const path = fc.tuple(
    fc.array(fc.constantFrom("a", "b", "ab", "ba", "abb", "*"), { minLength: 1, maxLength: 4 }),
    fc.boolean(),
  ).map(([parts, isFolder]) => `${parts.join("/")}${isFolder ? "/" : ""}`);
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), path, (rules, one) => {
      const expected = ignore({ ignorecase: false }).add(rules).ignores(one);
      assert.equal(ignores(new IgnoreList(rules), one), expected, `${JSON.stringify(rules)} ${one}`);
    }),
    { numRuns: runs(750, 3_000) },
  );
});

Deno.test("IgnoreList knows remarks, blanks, escapes and case", () => {
  const list = new IgnoreList(["# no rule", "", "   ", "\\#file", "\\!loud", "blank\\ ", "end   ", "Case", "a\\*b"]);
  const of = (path: string): boolean | null => list.decide(path, false);
  assert.deepEqual(["#file", "!loud", "blank ", "end", "Case", "a*b"].map(of), [true, true, true, true, true, true]);
  assert.deepEqual(["# no rule", "blank", "case", "axb", ""].map(of), [null, null, null, null, null]);
  assert.ok(new IgnoreList(["# x", " "]).isEmpty);
});

Deno.test("IgnoreList accepts rules that make a backtracking expression hang, up to a limit", () => {
  const rules = Array.from({ length: 5_000 }, (_, at) => `${"*a".repeat(40)}${at}`);
  const begun = cpuMs();
  assert.equal(new IgnoreList(rules).decide(`x/${"a".repeat(250)}`, false), null);
  assert.ok(cpuMs() - begun < 2_000);
  assert.equal(new IgnoreList([...rules, "last"]).decide("last", false), null);
});

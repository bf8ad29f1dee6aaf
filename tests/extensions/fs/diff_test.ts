import assert from "node:assert/strict";
import fc from "fast-check";
import { applyHunks } from "../../../extensions/fs/patch/apply_hunks.ts";
import { parsePatch } from "../../../extensions/fs/patch/parse_patch.ts";
import { findText } from "../../../extensions/fs/patch/replace_text.ts";
import { lineChanges, unifiedDiff } from "../../../extensions/fs/patch/unified_diff.ts";
import { runs } from "../../helpers/long_part.ts";

const signal = undefined;
const line = fc.constantFrom("a", "b", "c", "", "-- x", "++ y", "@@", "  indented");
const text = fc.tuple(fc.array(line, { maxLength: 25 }), fc.boolean()).map(([lines, ended]) =>
  lines.length === 0 ? "" : lines.join("\n") + (ended || lines.at(-1) === "" ? "\n" : "")
);

Deno.test("unifiedDiff() and fs.patch()'s reading of it are each other's reverse", async () => {
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      fc.pre(before !== after);
      const diff = await unifiedDiff("a.txt", { before, after });
      const [part] = parsePatch(diff, () => false);
      assert.ok(part);
      assert.equal(await applyHunks(before, part.hunks, { path: "a.txt", signal }), after);
    }),
    { numRuns: runs(100, 400) },
  );
});

Deno.test("lineChanges() are the least: as many lines as the longest common subsequence leaves", async () => {
  const lcs = (a: readonly string[], b: readonly string[]): number => {
    let row = new Array<number>(b.length + 1).fill(0);
    for (const x of a) {
      const next = [0];
      for (const [at, y] of b.entries()) {
        next.push(x === y ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
      }
      row = next;
    }
    return row[b.length] ?? 0;
  };
  const lines = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(lines, lines, async (a, b) => {
      const changes = await lineChanges(a, b);
      const total = changes.reduce((sum, one) => sum + one.to - one.from + one.newTo - one.newFrom, 0);
      assert.equal(total, a.length + b.length - 2 * lcs(a, b));
      const made = changes.reduceRight<string[]>(
        (all, { from, to, newFrom, newTo }) => [...all.slice(0, from), ...b.slice(newFrom, newTo), ...all.slice(to)],
        [...a],
      );
      assert.deepEqual(made, b);
    }),
    { numRuns: runs(75, 300) },
  );
});

Deno.test("unifiedDiff() shows a missing last line end", async () => {
  assert.equal(
    await unifiedDiff("a", { before: "x\ny", after: "x\ny\n" }),
    "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n",
  );
});

Deno.test("findText() finds the same places as the engine, in texts that would take the engine long", async () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      letters,
      fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 20 }),
      async (one, part) => {
        const expected: number[] = [];
        for (let at = one.indexOf(part); at >= 0; at = one.indexOf(part, at + part.length)) expected.push(at);
        assert.deepEqual(await findText(one, part, { signal, path: "a.txt" }), expected);
      },
    ),
  );
  const long = "ab".repeat(500_000);
  assert.deepEqual(await findText(`${long}c${long}c`, `${"ab".repeat(20_000)}c`, { signal, path: "a.txt" }), [
    960_000,
    1_960_001,
  ]);
});

Deno.test("findText() gives up with the signal, and lets others go first meanwhile", async () => {
  const stop = new AbortController();
  const found = findText("a".repeat(8_000_000), `b${"a".repeat(1_000_000)}`, { signal: stop.signal, path: "a.txt" });
  setTimeout(() => stop.abort(new Error("Enough")), 1);
  await assert.rejects(found, /Enough/);
});

Deno.test("unifiedDiff() names a file outside of the workspace by its path alone", async () => {
  const heads = (diff: string) => diff.split("\n").slice(0, 2);
  assert.deepEqual(heads(await unifiedDiff("../lib/a.ts", { before: "1\n", after: "2\n" })), [
    "--- ../lib/a.ts",
    "+++ ../lib/a.ts",
  ]);
});

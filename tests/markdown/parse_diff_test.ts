import assert from "node:assert/strict";
import { createTwoFilesPatch } from "diff";
import fc from "fast-check";
import { diffCounts, type DiffFile, type DiffLine, diffTitle, parseDiff } from "../../src/markdown/parse_diff.ts";

function shown(line: DiffLine): string {
  if (line.kind === "gap") return "⋯";
  if (line.kind === "note") return `(${line.text})`;
  const sign = { added: "+", removed: "-", same: " " }[line.kind];
  return `${line.number}${sign}${line.spans.map(({ text, changed }) => changed ? `[${text}]` : text).join("")}`;
}

function outline(file: DiffFile): readonly string[] {
  return [`${diffTitle(file)} ${diffCounts(file)}`.trimEnd(), ...file.lines.map(shown)];
}

const DIFF = `--- a/src/a.ts
+++ b/src/a.ts
@@ -1,4 +1,5 @@
 const a = 1;
-const rate = 0.9;
+const rate = 0.85;
+const more = true;
 
 --- not a header
@@ -20 +21 @@
--- old
\\ No newline at end of file
+++ new
`;

Deno.test("parseDiff() numbers the lines, marks the words that changed, and takes no line for a header", () => {
  const [file, ...more] = parseDiff(DIFF);
  assert.ok(file && more.length === 0);
  assert.deepEqual(outline(file), [
    "src/a.ts +3 −2",
    "1 const a = 1;",
    "2-const rate = 0.[9];",
    "2+const rate = 0.[85];",
    "3+const more = true;",
    "4 ",
    "5 --- not a header",
    "⋯",
    "20--- old",
    "(No newline at end of file)",
    "21+++ new",
  ]);
});

Deno.test("parseDiff() reads new, deleted, moved and binary files, also of git, and counts omitted lines", () => {
  const cases: readonly (readonly [diff: string, expected: readonly (readonly string[])[]])[] = [
    ["--- /dev/null\n+++ b/n.ts\n@@ -0,0 +1 @@\n+one\n", [["n.ts (new) +1", "1+one"]]],
    ["--- a/o.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", [["o.ts (deleted) −1", "1-one"]]],
    ["--- a/a.ts\n+++ b/b.ts\n", [["a.ts → b.ts"]]],
    ["Binary file a b.png replaced\n", [["a b.png", "(binary file replaced)"]]],
    ["--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n… 70 characters of the diff left out, with +2 −1 lines\n", [
      ["x +2 −2", "1-a", "(… 70 characters of the diff left out, with +2 −1 lines)"],
    ]],
    [
      "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@ f()\n-a\n+b\n" +
      "diff --git a/p b/q\nsimilarity index 100%\nrename from p\nrename to q\n" +
      "diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+c\n",
      [["x +1 −1", "1-a", "1+b"], ["p → q"], ["n (new) +1", "1+c"]],
    ],
    ["", []],
  ];
  for (const [diff, expected] of cases) assert.deepEqual(parseDiff(diff).map(outline), expected, diff);
});

Deno.test("parseDiff() marks words only in lines that are alike", () => {
  const lines = (before: string, after: string): readonly string[] =>
    parseDiff(`--- a/x\n+++ b/x\n@@ -1 +1 @@\n-${before}\n+${after}\n`).flatMap((file) => file.lines.map(shown));
  assert.deepEqual(lines("read the file", "write the file"), ["1-[read] the file", "1+[write] the file"]);
  assert.deepEqual(lines("a b c d", "a x y d"), ["1-a [b c] d", "1+a [x y] d"]);
  assert.deepEqual(lines("if (a) {", "if (a && b) {"), ["1-if (a) {", "1+if (a[ && b]) {"]);
  assert.deepEqual(lines("import x", "return 42;"), ["1-import x", "1+return 42;"]);
});

Deno.test("parseDiff() has the lines of both texts with their numbers, whatever the texts are", () => {
  const text = fc.array(fc.constantFrom("a", "b = 1", "+ c", "- d", "", "--- a/x", "@@ -1 +1 @@"), { maxLength: 30 });
  fc.assert(fc.property(text, text, (before, after) => {
    const whole = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
    const diff = createTwoFilesPatch("a/x", "b/x", whole(before), whole(after), "", "", { context: 99 });
    if (before.join("\n") === after.join("\n")) return;
    const lines = parseDiff(diff.replace(/^=+\n/, "")).flatMap((file) => file.lines);
    const side = (kinds: readonly DiffLine["kind"][]): readonly string[] =>
      lines.flatMap((line) =>
        "spans" in line && kinds.includes(line.kind) ? [line.spans.map(({ text }) => text).join("")] : []
      );
    assert.deepEqual([side(["same", "removed"]), side(["same", "added"])], [before, after]);
  }));
});

Deno.test("parseDiff() never throws", () => {
  const piece = fc.constantFrom(
    "--- a/x\n",
    "+++ b/x\n",
    "@@ -1,2 +1 @@\n",
    "@@ -0 +9999999999,5 @@\n",
    "+a\n",
    "-",
    " ",
    "\\ N\n",
    "…\n",
    "diff --git\n",
  );
  fc.assert(fc.property(fc.array(fc.oneof(piece, fc.string())), (parts) => void parseDiff(parts.join(""))));
});

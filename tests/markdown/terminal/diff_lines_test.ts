import assert from "node:assert/strict";
import { visibleWidth } from "@earendil-works/pi-tui";
import { diffLines } from "../../../src/markdown/terminal/diff_lines.ts";
import { terminalPaint } from "../../../src/markdown/terminal/paint.ts";

const plain = terminalPaint({ color: false, weights: false });
const HEAD = "--- a/src/a.ts\n+++ b/src/a.ts\n";

Deno.test("diffLines() draws a file with its counts, and its lines with numbers and signs", () => {
  const diff = `${HEAD}@@ -9,2 +9,2 @@\n same\n-\told\n+\tnew\n@@ -120 +120 @@\n+last\n`;
  assert.deepEqual(diffLines(diff, { width: 40, paint: plain }), [
    "src/a.ts +2 −1",
    "  9   same",
    " 10 -     old",
    " 10 +     new",
    "  ⋯",
    "120 + last",
  ]);
});

Deno.test("diffLines() marks the words that changed", () => {
  const diff = `${HEAD}@@ -1 +1 @@\n-rate = 0.9\n+rate = 0.8\n`;
  const [, removed, added] = diffLines(diff, { width: 40, paint: terminalPaint({ color: true }) });
  assert.ok(removed?.endsWith("\x1b[31mrate = 0.\x1b[39m\x1b[31m\x1b[7m9\x1b[27m\x1b[39m"), removed);
  assert.ok(added?.includes("\x1b[7m8\x1b[27m"), added);
});

Deno.test("diffLines() continues long lines below their text, and shows most lines of each file", () => {
  const line = "wörld ".repeat(9);
  const diff = `${HEAD}@@ -0,0 +1,3 @@\n+${line}\n+two\n+three\n${
    HEAD.replaceAll("/a.ts", "/b.ts")
  }@@ -0,0 +1 @@\n+x\n`;
  const lines = diffLines(diff, { width: 24, paint: plain, most: 2 });
  assert.deepEqual(lines.slice(0, 3), [
    "src/a.ts +3",
    `1 + ${line.slice(0, 20)}`,
    `    ${line.slice(20, 40)}`.trimEnd(),
  ]);
  assert.deepEqual(lines.slice(-4), ["2 + two", "… 1 more line", "src/b.ts +1", "1 + x"]);
  for (const one of lines) assert.ok(visibleWidth(one) <= 24, one);
});

Deno.test("diffLines() shows control characters, and fits the smallest widths", () => {
  const diff = `--- a/\x1b[2J\n+++ b/\x1b[2J\n@@ -1 +1 @@\n-a\x1b[31m\r\n+\u202eb\n`;
  for (let width = 1; width < 30; width++) {
    const lines = diffLines(diff, { width, paint: plain });
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(lines.join("\n"), /[\x1b\r\u202e]/);
    assert.ok(lines.every((line) => visibleWidth(line) <= Math.max(3, width)), `${width}: ${lines.join("\n")}`);
  }
});

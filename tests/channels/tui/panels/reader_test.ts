import assert from "node:assert/strict";
import { makeTheme } from "../../../../src/channels/tui/text/theme.ts";
import { visibleWidth } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { TextView } from "../../../../src/channels/tui/panels/reader.ts";

// deno-lint-ignore no-control-regex
const bare = (line: string): string => line.replace(/\x1b\[\d+m/g, "");

function whole(view: TextView, width: number): string[] {
  return view.render(width, 100_000).map(bare);
}

const PIECES = [
  "",
  "a",
  "word",
  "longer words",
  "漢字漢字漢字",
  "👩‍👩‍👧",
  "\t",
  "\x1b[2J",
  "  ",
  "e\u0301",
  "x".repeat(90),
  "\ud800",
];
const text = fc.array(fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((parts) => parts.join(" ")), {
  minLength: 1,
  maxLength: 12,
}).map((lines) => lines.join("\n"));
const part = fc.record({
  head: fc.constantFrom("Head", "漢字"),
  text,
  look: fc.constantFrom("plain", "diff", "change", "table"),
  hang: fc.constantFrom(0, 3, 20, 80),
});
const parts = fc.array(part, { minLength: 1, maxLength: 4 });
const size = fc.record({ width: fc.integer({ min: 16, max: 90 }), height: fc.integer({ min: 1, max: 12 }) });
const move = fc.constantFrom("up", "down", "pageUp", "pageDown", "home", "end" as const);

Deno.test("TextView.render() shows every row once while scrolling down, and the end at the end", () => {
  fc.assert(
    fc.property(parts, size, (shown, { width, height }) => {
      const view = new TextView();
      view.show(shown);
      const rows = whole(view, width);
      for (const row of rows) assert.ok(visibleWidth(row) <= width, `${visibleWidth(row)} of ${width}`);
      const seen = view.render(width, height).map(bare);
      for (let at = seen.length; at < rows.length; at++) {
        view.move("down");
        seen.push(view.render(width, height).map(bare).at(-1) ?? "");
      }
      assert.deepEqual(seen, rows);
      view.move("down");
      assert.deepEqual(view.render(width, height).map(bare), rows.slice(-height));
      view.move("home");
      view.move("end");
      assert.deepEqual(view.render(width, height).map(bare), rows.slice(-height));
    }),
    { numRuns: 60 },
  );
});

Deno.test("TextView.move() always shows rows that follow each other, whatever was pressed and however it was resized", () => {
  fc.assert(
    fc.property(parts, fc.array(fc.tuple(move, size), { maxLength: 12 }), (shown, steps) => {
      const view = new TextView();
      view.show(shown);
      for (const [movement, { width, height }] of steps) {
        view.render(width, height);
        view.move(movement);
        const rows = view.render(width, height).map(bare);
        const fresh = new TextView();
        fresh.show(shown);
        const all = whole(fresh, width);
        assert.equal(rows.length, Math.min(height, all.length));
        assert.ok(`\n${all.join("\n")}\n`.includes(`\n${rows.join("\n")}\n`));
      }
    }),
    { numRuns: 60 },
  );
});

Deno.test("TextView.go() reaches every part, and up and down continue from there", () => {
  const view = new TextView();
  view.show(["one", "two", "three"].map((head) => ({ head, text: "a\nb" })));
  assert.equal(view.render(20, 8).length, 8);
  view.go(2);
  assert.deepEqual([view.render(20, 8).map(bare), view.part], [["three", "a", "b"], 2]);
  view.move("down");
  assert.deepEqual(view.render(20, 8).map(bare), ["three", "a", "b"]);
  view.move("up");
  assert.deepEqual(view.render(20, 8).map(bare), ["", "three", "a", "b"]);
  view.go(7);
  assert.equal(view.part, 1);
});

Deno.test("TextView.find() marks matches, wraps around, and reports that there are none", () => {
  const view = new TextView();
  view.show([{ text: "Needle one\nnothing\nmany NEEDLES, needle\nİ needle" }]);
  view.render(40, 1);
  const next = (again: boolean, by: 1 | -1 = 1): string => {
    assert.equal(view.find("needle", { by, again }), true);
    return view.render(40, 1)[0] ?? "";
  };
  assert.equal(next(false), "\x1b[7mNeedle\x1b[27m one");
  assert.equal(next(true), "many \x1b[7mNEEDLE\x1b[27mS, \x1b[7mneedle\x1b[27m");
  assert.match(next(true), /needle/);
  assert.equal(next(true), "\x1b[7mNeedle\x1b[27m one");
  assert.match(next(true, -1), /needle/);
  assert.equal(view.matches, 3);
  assert.equal(view.find("absent", { by: 1, again: false }), false);
  assert.equal(new TextView().find("x", { by: 1, again: true }), true);
});

Deno.test("TextView.show() nothing at all, and a line of a megabyte", () => {
  const view = new TextView();
  assert.deepEqual(view.render(40, 5), []);
  view.move("end");
  view.move("pageUp");
  view.show([]);
  assert.deepEqual([view.render(40, 5), view.where, view.part], [[], { line: 0, lines: 0 }, 0]);
  view.show([{ text: `${"😀".repeat(500_000)}end` }]);
  view.render(40, 5);
  view.move("end");
  assert.match(view.render(40, 5).join(""), /^(?:😀)+end$/u);
});

Deno.test("TextView.render() a difference has its colours on every row of a line, or weights without colours", () => {
  const text = "--- v1\n+++ v2\n-old words here\n+new\n same";
  const mark = (sign: string) => (row: string): string => `${sign}${row}${sign}`;
  const coloured = new TextView(() => ({
    ok: mark("G"),
    bad: mark("R"),
    accent: String,
    markdown: makeTheme({ color: false, dark: null }).markdown,
  }));
  coloured.show([{ text, look: "diff" }]);
  assert.deepEqual(coloured.render(10, 9), ["R--- v1R", "G+++ v2G", "R-old wordsR", "RhereR", "G+newG", " same"]);
  const plain = new TextView();
  plain.show([{ text, look: "diff" }]);
  assert.deepEqual(plain.render(10, 9).slice(3), ["\x1b[2mhere\x1b[22m", "\x1b[1m+new\x1b[22m", " same"]);
});

Deno.test("TextView.grow() follows the end while it is visible, and leaves a place above it alone", () => {
  const view = new TextView();
  const lines = (count: number) => [{ text: Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n") }];
  const first = (): string | undefined => view.render(40, 4)[0];
  view.show(lines(2));
  assert.equal(first(), "line 1");
  view.grow(lines(9));
  assert.equal(first(), "line 6");
  view.move("up");
  assert.equal(first(), "line 5");
  view.grow(lines(20));
  assert.equal(first(), "line 5");
  view.move("end");
  first();
  view.grow(lines(30));
  assert.equal(first(), "line 27");
});

Deno.test("the later rows of a change and of a list of keys begin below its text", () => {
  const view = new TextView();
  view.show([
    { text: "12 + 日本語のとても長い行", look: "change" },
    { text: "Enter  send; while a request runs: add to its next step", hang: 7 },
  ]);
  assert.deepEqual(whole(view, 24).map((line) => line.trimEnd()), [
    "12 + 日本語のとても長い",
    "     行",
    "Enter  send; while a",
    "       request runs: add",
    "       to its next step",
  ]);
  assert.deepEqual(whole(view, 17).slice(2).map((line) => line.trimEnd()), [
    "Enter  send;",
    "while a request",
    "runs: add to its",
    "next step",
  ]);
});

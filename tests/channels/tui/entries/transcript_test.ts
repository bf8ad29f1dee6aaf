import assert from "node:assert/strict";
import fc from "fast-check";
import type { TranscriptEntry } from "../../../../src/channels/tui/entries/entry.ts";
import { Transcript } from "../../../../src/channels/tui/entries/transcript.ts";

function entry(name: string, count: number): TranscriptEntry & { count: number; drawn: number } {
  return {
    count,
    drawn: 0,
    lines() {
      this.drawn++;
      return Array.from({ length: this.count }, (_, line) => `${name}.${line}`);
    },
    invalidate: () => {},
  };
}

const shown = (transcript: Transcript, rows = 4): string => transcript.view(20, rows).join(" ").trimEnd();

Deno.test("view() shows the end, and short content from the top", () => {
  const transcript = new Transcript();
  assert.equal(shown(transcript), "");
  transcript.add(entry("a", 2));
  assert.deepEqual(transcript.view(20, 4), ["a.0", "a.1", "", ""]);
  transcript.add(entry("b", 3));
  assert.equal(shown(transcript), "a.1 b.0 b.1 b.2");
});

Deno.test("scroll() keeps the visible text in place while more arrives, until it is at the end again", () => {
  const transcript = new Transcript();
  const last = entry("c", 3);
  transcript.add(entry("a", 3), entry("b", 3), last);
  transcript.view(20, 4);
  transcript.scroll(-2);
  assert.equal(shown(transcript), "b.0 b.1 b.2 c.0");
  last.count = 30;
  transcript.add(entry("d", 30));
  assert.equal(shown(transcript), "b.0 b.1 b.2 c.0");
  assert.equal(transcript.following, false);
  transcript.scroll(1_000);
  assert.equal(transcript.following, true);
  assert.equal(shown(transcript), "d.26 d.27 d.28 d.29");
  transcript.toStart();
  assert.equal(shown(transcript), "a.0 a.1 a.2 b.0");
  transcript.scroll(-5);
  assert.equal(shown(transcript), "a.0 a.1 a.2 b.0");
});

Deno.test("replace() above, at and below the visible text does not move the rest", () => {
  const transcript = new Transcript();
  const [a, b, c] = [entry("a", 2), entry("b", 2), entry("c", 9)];
  transcript.add(a, b, c);
  transcript.view(20, 3);
  transcript.toStart();
  transcript.scroll(4);
  assert.equal(shown(transcript, 3), "c.0 c.1 c.2");
  transcript.replace(a, [entry("x", 5), entry("y", 5)]);
  assert.equal(shown(transcript, 3), "c.0 c.1 c.2");
  transcript.replace(b, []);
  assert.equal(shown(transcript, 3), "c.0 c.1 c.2");
  transcript.replace(c, [entry("p", 3), entry("q", 9)]);
  transcript.scroll(-1);
  assert.match(shown(transcript, 3), /q\.7|q\.6/);
});

Deno.test("scroll() stops at content that is still loading", () => {
  const transcript = new Transcript();
  const waits: TranscriptEntry = { ...entry("w", 1), pending: true };
  transcript.add(entry("a", 50), waits, entry("b", 3));
  transcript.view(20, 3);
  transcript.scroll(-40);
  assert.equal(shown(transcript, 3), "w.0 b.0 b.1");
});

Deno.test("only entries near the viewport are drawn, however many exist", () => {
  const transcript = new Transcript();
  const entries = Array.from({ length: 10_000 }, (_, n) => entry(`e${n}`, 3));
  transcript.add(...entries);
  shown(transcript, 30);
  transcript.page(-1);
  shown(transcript, 30);
  assert.ok(entries.filter(({ drawn }) => drawn > 0).length < 60);
});

Deno.test("any scrolling shows as many rows as there are, in order", () => {
  fc.assert(fc.property(
    fc.array(fc.nat(6), { minLength: 1, maxLength: 20 }),
    fc.array(fc.integer({ min: -9, max: 9 }), { maxLength: 20 }),
    fc.integer({ min: 1, max: 8 }),
    (counts, moves, rows) => {
      const transcript = new Transcript();
      const all = counts.flatMap((count, n) => Array.from({ length: count }, (_, line) => `${n}.${line}`));
      transcript.add(...counts.map((count, n) => entry(String(n), count)));
      for (const move of moves) {
        transcript.view(20, rows);
        transcript.scroll(move);
      }
      const lines = transcript.view(20, rows).filter((line) => line !== "");
      assert.equal(lines.length, Math.min(rows, all.length));
      const at = all.indexOf(lines[0] ?? "");
      assert.deepEqual(lines, all.slice(at, at + lines.length));
    },
  ));
});

Deno.test("cutFrom() removes an entry and all later ones, seen or not", () => {
  const transcript = new Transcript();
  const [a, b, c] = [entry("a", 2), entry("b", 3), entry("c", 9)];
  transcript.add(a, b, c);
  transcript.view(20, 3);
  transcript.scroll(-2);
  transcript.cutFrom(entry("other", 1));
  assert.equal(transcript.entries.length, 3);
  transcript.cutFrom(b);
  assert.equal(shown(transcript), "a.0 a.1");
  assert.equal(transcript.following, true);
});

Deno.test("jump() goes to the requests and answers above and below the first row, and then to the end", () => {
  const transcript = new Transcript();
  const landmark = (name: string, count: number) => ({ ...entry(name, count), isLandmark: true });
  transcript.add(
    landmark("ask", 1),
    entry("step", 3),
    landmark("answer", 9),
    landmark("more", 1),
    landmark("short", 1),
  );
  const tops: string[] = [];
  const jump = (direction: -1 | 1): void => {
    transcript.jump(direction);
    tops.push(transcript.following ? "end" : transcript.view(20, 4)[0] ?? "");
  };
  transcript.view(20, 4);
  for (const direction of [-1, -1, -1, 1, 1, 1] as const) jump(direction);
  assert.deepEqual(tops, ["answer.0", "ask.0", "ask.0", "answer.0", "end", "end"]);
  const few = new Transcript();
  few.add(landmark("ask", 1));
  few.view(20, 4);
  few.jump(-1);
  assert.equal(few.following, true);
});

Deno.test("at another width, the first row keeps its relative place in a long entry", () => {
  const transcript = new Transcript();
  const answer: TranscriptEntry = {
    lines: (width) => Array.from({ length: 2_000 / width }, (_, line) => `word ${line * width}`),
    invalidate: () => {},
  };
  transcript.add(entry("a", 3), answer, entry("b", 30));
  transcript.view(20, 4);
  transcript.toStart();
  transcript.scroll(53);
  assert.equal(transcript.view(20, 4)[0], "word 1000");
  assert.equal(transcript.view(10, 4)[0], "word 1000");
  assert.equal(transcript.view(40, 4)[0], "word 1000");
  transcript.toEnd();
  transcript.view(10, 4);
  assert.equal(transcript.following, true);
});

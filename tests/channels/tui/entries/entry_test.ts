import assert from "node:assert/strict";
import { DrawnEntry } from "../../../../src/channels/tui/entries/entry.ts";
import { EndEntry } from "../../../../src/channels/tui/entries/message_entries.ts";
import { DEFAULT_PREFS } from "../../../../src/channels/tui/prefs.ts";
import { makeTheme } from "../../../../src/channels/tui/text/theme.ts";
import { NO_USAGE } from "../../../../src/domain/query/model_call.ts";

class Counted extends DrawnEntry {
  drawn = 0;
  fault: Error | null = null;

  protected draw(width: number): readonly string[] {
    this.drawn++;
    if (this.fault !== null) throw this.fault;
    return [`${this.drawn} at ${width}`];
  }
}

Deno.test("lines() draws once for a width, and again after invalidate()", () => {
  const entry = new Counted();
  assert.equal(entry.lines(40), entry.lines(40));
  assert.deepEqual(entry.lines(30), ["2 at 30"]);
  entry.invalidate();
  assert.deepEqual(entry.lines(30), ["3 at 30"]);
});

Deno.test("lines() names an entry that cannot be drawn, and sends no command to the terminal", () => {
  const entry = new Counted();
  entry.fault = new RangeError("too deep \x1b[2J");
  assert.deepEqual(entry.lines(80), ["Cannot show this part: too deep \\u001b[2J", ""]);
});

Deno.test("lines() shows text that arrived with the next frame, and not before", () => {
  const entry = new Counted();
  const before = entry.lines(40);
  entry.grown();
  assert.equal(entry.lines(40, false), before);
  assert.deepEqual(entry.lines(40, true), ["2 at 40"]);
  entry.grown();
  assert.deepEqual(entry.lines(30, false), ["3 at 30"], "another width is drawn at once");
  assert.equal(entry.lines(30, true), entry.lines(30, true));
});

Deno.test("EndEntry has one line for each kind of work, and cuts the lines", () => {
  const ran = (command: string, exitCode: number, outcome: string) => ({ command, exitCode, outcome });
  const work = {
    ...{ files: 2, added: 3, removed: 1, changed: "2 files changed +3 −1 (lib/parse.js, test/parse.test.js)" },
    commands: [
      ...["ls", "make", "npm ci"].map((command) => ran(command, 0, "")),
      ran("npm test", 1, "exit code 1"),
      ran(`for i in $(seq 9); do echo ${"x".repeat(90)}; done`, 0, ""),
    ],
    ...{ others: ["committed Merge feature", "pushed main"], text: "all of it" },
  };
  const ended = {
    ...{ iterations: 2, ms: 1_500, usage: NO_USAGE, costUsd: null, confidence: null, queryId: "q", work },
    ...{ status: "done", reason: "answered", notes: ["a note", "all of it"] } as const,
  };
  const theme = makeTheme({ color: false, contrast: true, dark: null });
  const shown = { theme, prefs: DEFAULT_PREFS, whole: false, undone: new Set<string>() };
  const entry = new EndEntry(ended, () => shown);
  assert.deepEqual(entry.lines(60), [
    "a note",
    "2 files changed +3 −1 (lib/parse.js, 1 more) · /undo",
    "committed Merge feature, pushed main",
    "✗ npm test (exit code 1)",
    "ran make, npm ci, for i in $(seq 9); do ec…, 1 more (Ctrl-O)",
    "2 steps · 1.5 s",
    "",
  ]);
  shown.whole = true;
  entry.invalidate();
  assert.deepEqual(entry.lines(200).slice(3, 5), [
    "✗ npm test (exit code 1)",
    "ran ls, make, npm ci, for i in $(seq 9); do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…",
  ]);
});

Deno.test("EndEntry puts the end of a request on neighbouring lines, and names the way on", () => {
  const work = { files: 1, added: 1, removed: 0, commands: [], others: [], text: "1 file changed +1 −0 (a.ts)" };
  const facts = { iterations: 2, ms: 1_500, usage: NO_USAGE, costUsd: null, confidence: null };
  const ended = {
    ...facts,
    queryId: "q",
    status: "interrupted",
    reason: "process_lost",
    notes: [work.text],
    work,
  } as const;
  const undone = new Set<string>();
  const theme = makeTheme({ color: false, contrast: true, dark: null });
  const entry = new EndEntry(ended, () => ({ theme, prefs: DEFAULT_PREFS, whole: false, undone }));
  assert.deepEqual(entry.lines(80), [
    "interrupted: Vis ended or stopped responding",
    "Write “continue”, or press Alt-R to start it over",
    "1 file changed +1 −0 (a.ts) · /undo",
    "2 steps · 1.5 s",
    "",
  ]);
  undone.add("q");
  entry.invalidate();
  assert.equal(entry.lines(80)[2], "1 file changed +1 −0 (a.ts) · undone · /redo");
});

import assert from "node:assert/strict";
import { ChangedFiles, notesBelow, QueryWork } from "../../../src/domain/query/work_summary.ts";

Deno.test("facts() name a long command by its beginning, and list it whole", () => {
  const work = new QueryWork();
  const command = `for i in $(seq 1 60); do echo building module $i; done; npm test -w packages/api`;
  const action = { doing: "running", done: "ran", things: "commands", subject: command };
  work.take({ name: "shell.run", action, outcome: "exit code 1", exitCode: 1 });
  const { text, commands } = work.facts(new ChangedFiles(), { claimed: false });
  assert.equal(text, "✗ for i in $(seq 1 60); do echo building module $i; done; npm… (exit code 1)");
  assert.deepEqual(commands, [{ command, exitCode: 1, outcome: "exit code 1" }]);
});

Deno.test("facts() call a command started until its end is known", () => {
  const work = new QueryWork();
  const take = (subject: string, exitCode: number | null, outcome = ""): void =>
    work.take({ name: "shell.x", action: { doing: "", done: "", things: "commands", subject }, exitCode, outcome });
  const text = (): string => work.facts(new ChangedFiles(), { claimed: false }).text;
  take("npm run dev", null);
  assert.equal(text(), "started npm run dev");
  take("ls", 0);
  take("sleep 9", null, "timed out");
  assert.equal(text(), "✗ sleep 9 (timed out), started npm run dev, ran ls");
  take("npm run dev", 0);
  assert.equal(text(), "✗ sleep 9 (timed out), ran ls, npm run dev");
});

Deno.test("facts() name each failed command first, then counts of tests, then the newest others", () => {
  const work = new QueryWork();
  const take = (subject: string, exitCode: number, outcome = ""): void =>
    work.take({ name: "shell.x", action: { doing: "", done: "", things: "commands", subject }, exitCode, outcome });
  take("npm test", 0, "119 passed");
  take("node parse.js", 1, "exit code 1");
  for (let at = 1; at <= 3; at++) take(`echo ${at}`, 0);
  const { text, ...facts } = work.facts(new ChangedFiles(), { claimed: false });
  assert.equal(text, "✗ node parse.js (exit code 1), ran npm test (119 passed), echo 2, echo 3, 1 more");
  const told = { notes: [text], work: { text, ...facts } };
  assert.deepEqual(notesBelow(told, { undo: "vis undo", more: "see below" }), [
    "✗ node parse.js (exit code 1)",
    "ran npm test (119 passed), echo 2, echo 3, 1 more (see below)",
  ]);
  assert.equal(notesBelow(told, { undo: "vis undo" })[1], "ran echo 1, npm test (119 passed), echo 2, echo 3");
});

Deno.test("notesBelow() shortens changes and commands, but no actions", () => {
  const lineOf = (count: number): readonly string[] => {
    const work = new QueryWork();
    for (let at = 1; at <= count; at++) {
      const action = { doing: "", done: "pushed", things: "times", subject: `topic${at}` };
      work.take({ name: "git.push", action, changes: "other", ok: true });
    }
    work.take({ name: "shell.x", action: { doing: "", done: "", things: "", subject: "npm test" }, exitCode: 0 });
    const facts = work.facts(new ChangedFiles(), { claimed: false });
    const fit = (line: string, after: string): string => `${line.slice(0, 5)}…${after}`;
    return notesBelow({ notes: [facts.text], work: { ...facts, changed: "1 file changed" } }, { undo: "", fit });
  };
  assert.deepEqual(lineOf(1), ["1 fil…", "pushed topic1", "ran n…"]);
  assert.deepEqual(lineOf(3), ["1 fil…", "pushed topic1, pushed topic2, pushed topic3", "ran n…"]);
  assert.match(lineOf(8)[1] ?? "", /^pushed topic3, .*, pushed topic8, 2 more$/);
});

Deno.test("a failed command stays among the facts, whatever number of commands follows it", () => {
  const work = new QueryWork();
  const take = (subject: string, exitCode: number, outcome = ""): void =>
    work.take({ name: "shell.x", action: { doing: "", done: "", things: "commands", subject }, exitCode, outcome });
  take("make", 2, "exit code 2");
  for (let at = 0; at < 300; at++) take(`echo ${at}`, 0);
  const { text, commands } = work.facts(new ChangedFiles(), { claimed: false });
  assert.equal(text, "✗ make (exit code 2), ran echo 297, echo 298, echo 299, 196 more");
  assert.deepEqual([commands.length, commands[0]?.command, commands.at(-1)?.command], [20, "make", "echo 299"]);
});

Deno.test("facts() name a call that threw, until a call of the function succeeds", () => {
  const work = new QueryWork();
  const action = { doing: "", done: "committed", things: "times", subject: "fix: one" };
  const text = (): string => work.facts(new ChangedFiles(), { claimed: false }).text;
  work.take({ name: "vcs.log", action, ok: false, output: "Cannot read the log" });
  assert.equal(text(), "");
  work.take({ name: "vcs.commit", action, ok: false, unfinished: true, output: "Cannot commit: the hook lint failed" });
  assert.equal(text(), "✗ vcs.commit (Cannot commit: the hook lint failed)");
  work.take({ name: "vcs.commit", action, ok: true, unfinished: false, outcome: "abc", changes: "other" });
  assert.equal(text(), "committed fix: one · abc");
});

Deno.test("facts() omit a part of work that a later call of its namespace has finished", () => {
  const work = new QueryWork();
  const call = (name: string, done: string, told: { partOf?: string; unfinished?: boolean }): void =>
    work.take({ name, action: { doing: "", done, things: "times", subject: "" }, ok: true, changes: "other", ...told });
  const text = (): string => work.facts(new ChangedFiles(), { claimed: false }).text;
  call("vcs.add", "staged one", { partOf: "" });
  call("vcs.add", "staged two", { partOf: "two" });
  call("vcs.commit", "committed paths", { unfinished: false });
  call("other.commit", "", { partOf: "", unfinished: false });
  assert.equal(text(), "staged one, staged two, committed paths");
  work.take({
    ...{ name: "vcs.commit", action: { doing: "", done: "committed", things: "times", subject: "" }, ok: true },
    ...{ changes: "files", unfinished: false, partOf: "" },
  });
  call("vcs.add", "staged three", { partOf: "" });
  assert.equal(text(), "staged two, committed paths, committed, staged three");
});

Deno.test("facts() keep the outcome of unfinished work only until a later call of its namespace has finished it", () => {
  const work = new QueryWork();
  const call = (name: string, done: string, told: { outcome: string; unfinished?: boolean }): void =>
    work.take({ name, action: { doing: "", done, things: "times", subject: "topic" }, changes: "other", ...told });
  const text = (): string => work.facts(new ChangedFiles(), { claimed: false }).text;
  call("vcs.merge", "merged", { outcome: "conflicts: a.ts", unfinished: true });
  call("vcs.add", "staged", { outcome: "1 file" });
  call("other.send", "sent", { outcome: "ok", unfinished: false });
  assert.equal(text(), "merged topic · conflicts: a.ts, staged topic · 1 file, sent topic · ok");
  call("vcs.commit", "committed", { outcome: "abc", unfinished: false });
  assert.equal(text(), "merged topic, staged topic · 1 file, sent topic · ok, committed topic · abc");
});

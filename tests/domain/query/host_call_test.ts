import assert from "node:assert/strict";
import {
  aboutSubject,
  BlockTally,
  type CallAction,
  calledAction,
  callsText,
  type HostCallEvent,
} from "../../../src/domain/query/host_call.ts";

const READ: CallAction = { doing: "reading", done: "read", things: "files" };
const RUN: CallAction = { doing: "running", done: "ran", things: "commands" };

function ended(action: CallAction, args: readonly unknown[], more: Partial<HostCallEvent> = {}): HostCallEvent {
  return { block: 0, name: "a.b", phase: "end", ok: true, action: calledAction(action, args), ...more };
}

function told(...events: readonly HostCallEvent[]): string {
  const tally = new BlockTally();
  for (const event of events) tally.take(event);
  return tally.text;
}

Deno.test("BlockTally describes a call and its outcome", () => {
  assert.equal(told(ended(READ, ["src/a.ts"])), "read src/a.ts");
  assert.equal(told(ended(READ, [["src/*.ts", "b.ts"]], { outcome: "3 files" })), "read src/*.ts b.ts · 3 files");
  assert.equal(told(ended(RUN, ["npm test"], { outcome: "12 passed" })), "ran npm test · 12 passed");
});

Deno.test("BlockTally counts calls of one kind, and keeps kinds in their order", () => {
  const reads = ["a", "b"].map((path) => ended(READ, [path]));
  assert.equal(told(...reads, ended(RUN, ["ls"]), ended(READ, ["c"])), "read 3 files, ran ls");
});

Deno.test("BlockTally counts different objects, but each run of a command", () => {
  assert.equal(told(ended(READ, ["a"]), ended(READ, ["a"])), "read a");
  assert.equal(told(ended(READ, ["a"]), ended(READ, ["b"]), ended(READ, ["a"])), "read 2 files");
  const several = { ...READ, ...aboutSubject(READ, ["a", "b", "a"]) };
  assert.equal(told({ ...ended(READ, []), action: several }), "read a, b");
  assert.equal(told({ ...ended(READ, []), action: several }, ended(READ, ["b"]), ended(READ, ["c"])), "read 3 files");
  const run = { exitCode: 0 };
  assert.equal(told(ended(RUN, ["npm test"], run), ended(RUN, ["npm test"], run)), "ran 2 commands");
  const times = { ...READ, things: "times" };
  assert.equal(told(ended(times, ["a"]), ended(times, ["a"])), "read 2 times");
  const threw = { ok: false };
  assert.equal(told(ended(READ, ["a"], threw), ended(READ, ["a"], threw)), "reading a failed");
});

Deno.test("BlockTally omits unfinished calls and functions without words", () => {
  const call = ended(READ, ["a"]);
  assert.equal(told({ ...call, phase: "start" }, { ...call, action: undefined, ok: false }), "");
});

Deno.test("BlockTally separates failed calls from the others", () => {
  const failed = { ok: false, outcome: "exit code 1" };
  assert.equal(told(ended(READ, ["a"], { ok: false })), "reading a failed");
  assert.equal(told(ended(READ, ["a"]), ended(READ, ["b"], { ok: false })), "read a, reading b failed");
  const threw = ["a", "b"].map((path) => ended(READ, [path], { ok: false }));
  assert.equal(told(...threw), "reading a failed, reading b failed");
  assert.equal(told(ended(RUN, ["ls"]), ended(RUN, ["npm test"], failed)), "ran ls, ran npm test · exit code 1");
  const run = { ...failed, exitCode: 1 };
  assert.equal(told(ended(RUN, ["a"], run), ended(RUN, ["b"], run)), "ran a · exit code 1, ran b · exit code 1");
  assert.equal(told(ended(RUN, ["a"], run), ended(RUN, ["a"], run)), "ran a 2 times · failed");
  const many = ["a", "b", "c", "d", "e"].map((command) => ended(RUN, [command], run));
  assert.match(told(...many), /^ran a · .*, ran c · exit code 1, ran 2 commands · failed$/);
});

Deno.test("BlockTally.linesWithin() has a line for each mark, with the failed calls last", () => {
  const failed = { ok: false, outcome: "exit code 1" };
  const refused = { ok: false, refusedByUser: true };
  const calls = [ended(RUN, ["b.js"], failed), ended(READ, ["a"]), ended(RUN, ["rm x"], refused), ended(RUN, ["ls"])];
  assert.deepEqual(BlockTally.of(calls).linesWithin(Infinity), [
    { state: "ok", text: "read a, ran ls" },
    { state: "refused", text: "running rm x: refused" },
    { state: "failed", text: "ran b.js · exit code 1" },
  ]);
});

Deno.test("BlockTally keeps the output of failed calls, and names them if there are several", () => {
  const failing = (command: string, output: string) =>
    ended(RUN, [command], { ok: false, outcome: "exit code 1", output });
  const one = BlockTally.of([ended(RUN, ["ls"]), failing("npm test", "1 failed\nfoo")]);
  assert.deepEqual([one.failed, one.output], [true, "1 failed\nfoo"]);
  assert.equal(BlockTally.of([failing("a", "x"), failing("b", "y")]).output, "a:\nx\nb:\ny");
  assert.deepEqual([BlockTally.of([ended(RUN, ["ls"])]).failed, BlockTally.of([]).failed], [false, false]);
});

Deno.test("BlockTally.linesWithin() shortens the subject, and keeps how the call turned out", () => {
  const long = ended(RUN, [`npm test ${"x".repeat(100)}`], { outcome: "12 passed" });
  const tally = BlockTally.of([ended(READ, ["a.ts"]), long]);
  const within = (width: number) => tally.linesWithin(width).map(({ text }) => text).join("\n");
  assert.equal(within(60), `read a.ts, ran npm test ${"x".repeat(23)}… · 12 passed`);
  assert.equal(within(60).length, 60);
  assert.equal(within(1), "read a.ts, ran npm test xx… · 12 passed");
  const files = BlockTally.of([ended(READ, ["packages/cli/src/main.ts"])]);
  const cut = (width: number) => files.linesWithin(width).map(({ text }) => text).join("\n");
  assert.deepEqual([cut(27), cut(20), cut(15)], ["read …/cli/src/main.ts", "read …/src/main.ts", "read …/main.ts"]);
  assert.equal(within(1_000), tally.text);
});

Deno.test("callsText() marks the calls, unless all of them succeeded", () => {
  const reading = ended(READ, ["a.ts"]);
  const text = (...calls: Parameters<typeof BlockTally.of>[0]) => callsText(BlockTally.of(calls).linesWithin(Infinity));
  assert.equal(text(), "");
  assert.equal(text(reading, ended(RUN, ["ls"])), "read a.ts, ran ls");
  const failed = ended(RUN, ["npm test"], { ok: false, outcome: "exit code 1" });
  const refused = ended(RUN, ["npm ci"], { ok: false, refusedByUser: true });
  assert.equal(text(failed), "✗ ran npm test · exit code 1");
  assert.equal(
    text(failed, reading, refused),
    "✓ read a.ts, – running npm ci: refused, ✗ ran npm test · exit code 1",
  );
});

Deno.test("BlockTally counts recorded calls without words by other calls of the same function", () => {
  const calls = [ended(READ, ["a"]), { name: "a.b", ok: true }, { name: "a.b", ok: false }, { name: "c.d", ok: true }];
  assert.equal(BlockTally.of(calls).text, "read 2 files, reading failed");
});

Deno.test("calledAction() names paths, lists and a given number of arguments, on one printable line", () => {
  const subject = (args: readonly unknown[], named = 1): string => calledAction({ ...READ, named }, args).subject;
  assert.equal(subject([[{ path: "a", old: "x" }, { path: "b" }]]), "a b");
  assert.equal(subject([[{ path: "a", old: "x" }, { path: "a", old: "y" }]]), "a");
  assert.equal(subject(["a", "b", "c"], 2), "a b");
  assert.equal(subject([1, null, {}]), "");
  assert.equal(subject(["a\nb\u001b[31m"]), "a b\\u001b[31m");
  assert.ok(subject(["x".repeat(1e6)]).length <= 120);
  const inFolder = (folder: string, command: string) => calledAction({ ...RUN, folder }, [command]).subject;
  assert.equal(inFolder("packages/a", "npm test"), "npm test in packages/a");
  assert.match(inFolder("packages/a", "x".repeat(1e6)), /^x.{80,110} in packages\/a$/);
  assert.ok(subject([Array.from({ length: 1e6 }, () => "y")]).length <= 120);
});

import assert from "node:assert/strict";
import { groupsOf, machinesOf, PART, withMachines } from "./machines.ts";

const OUTPUT = `Linux 6.12.95 aarch64
${PART}walls of the sandbox
ok - wall realm: blocks see only ECMAScript
not ok - wall kernel: got through: ["read"]
ok - kernel: read a file
1..3
${PART}tests of the walls
TAP version 14
# tests/a_test.ts
ok 1 - Mounts.makePlace() makes it
ok 2 - something # SKIP
1..2
${PART}attacks of commands
ok 1 - without a wall: a command that writes a file outside does
ok 2 - LinuxWall: commands without sockets that try 90 attacks in turn do nothing
not ok 3 - LinuxWall: commands in a network of its own that leaves a hook do nothing
1..3
`;

Deno.test("groupsOf() counts the cases of a machine, by group", () => {
  const groups = groupsOf(OUTPUT);
  assert.deepEqual([...groups].map(([title, { tried, skipped, failed }]) => [title, tried, skipped, failed.length]), [
    ["walls of the sandbox, each alone", 2, 0, 1],
    ["attacks on the kernel wall of the sandbox", 1, 0, 0],
    ["tests of the walls", 1, 1, 0],
    ["attacks of commands without a wall, which must work", 1, 0, 0],
    ["commands without sockets, with all attacks", 1, 0, 0],
    ["commands in a network of their own, with all attacks", 1, 0, 1],
  ]);
});

Deno.test("groupsOf() counts a part that broke off as failed", () => {
  const groups = groupsOf(`${PART}tests of the walls\nok 1 - first\n\nerror: Module not found\n`);
  assert.deepEqual([...groups], [
    ["tests of the walls", { tried: 1, skipped: 0, failed: ["broke off: error: Module not found"] }],
  ]);
});

Deno.test("withMachines() replaces its own part of a page and keeps the rest", () => {
  const run = { system: "Linux 6.12.95 aarch64", user: "nobody", groups: groupsOf(OUTPUT) };
  const page = "# Attacks\n\n## From source\n\nrows\n";
  const first = withMachines(page, [run], { keepOthers: false });
  assert.ok(first.startsWith(page));
  assert.match(first, /\| Linux 6\.12\.95 aarch64 \| nobody \| tests of the walls \| 1 \| 0 \| 1 \|/);
  assert.match(first, /^- Linux 6\.12\.95 aarch64, nobody, .*: LinuxWall: .* that leaves a hook do nothing$/m);
  assert.equal(withMachines(first, [run], { keepOthers: false }), first);
  assert.equal(withMachines(first, [run], { keepOthers: true }), first);
  const [title = "", group] = [...run.groups].find(([title]) => title === "tests of the walls") ?? [];
  const part = { ...run, groups: new Map(group ? [[title, { ...group, tried: 7 }]] : []) };
  const again = withMachines(first, [part], { keepOthers: true });
  assert.equal(again.split("\n").length, first.split("\n").length);
  assert.match(again, /\| nobody \| tests of the walls \| 7 \|/);
  const other = { ...run, user: "root" };
  assert.equal(withMachines(first, [other], { keepOthers: false }).includes("| nobody |"), false);
  const both = withMachines(first, [other], { keepOthers: true });
  for (const user of ["root", "nobody"]) assert.equal(both.split(`| ${user} | tests of the walls |`).length, 2);
  assert.equal(machinesOf(page), "");
  assert.equal(`${page}\n${machinesOf(first)}`, first);
});

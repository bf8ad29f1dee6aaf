import assert from "node:assert/strict";
import {
  execPlan,
  type ExecPolicy,
  execRules,
  type OwnNamespaces,
} from "../../../src/sandbox/exec/confinement_plan.ts";
import type { PlanStep, Word } from "../../../src/sandbox/exec/plan_format.ts";

const PRIVATE = { outside: "net:[1]", other: null, user: null, links: [], layers: [] };
const NAMESPACES: OwnNamespaces = {
  ...PRIVATE,
  links: [["/bin", "usr/bin"]],
  layers: [{ path: "/data/.git", folder: true, link: false, writable: false }],
  hidden: { files: [{ path: "/data/.env", inode: 7n }], as: "/home/hidden" },
};
const POLICY: ExecPolicy = {
  cwd: "/data",
  input: false,
  read: [{ path: "/usr", folder: true }, { path: "/proc", folder: true }, { path: "/etc/hosts", folder: false }],
  list: ["/etc"],
  write: [{ path: "/data", folder: true }, { path: "/home", folder: true }],
  devices: ["/dev/null"],
  network: "private",
  namespaces: NAMESPACES,
  limits: { openFiles: 4096, fileBytes: 1 << 30, cpuSeconds: 60, processes: 1000 },
};
const MACHINE = { abi: 6, hardLimit: () => 500 };
const RESOLVE_NO_SYMLINKS = 4n;
const CLONE_NEWUSER = 0x10000000, CLONE_NEWNET = 0x40000000, PR_SET_PDEATHSIG = 1, RLIMIT_CPU = 0, RLIMIT_NOFILE = 7;

const stepsOf = (policy: Partial<ExecPolicy>): readonly PlanStep[] => execPlan({ ...POLICY, ...policy }, MACHINE).steps;
const withOwn = (own: Partial<OwnNamespaces>): readonly PlanStep[] =>
  stepsOf({ namespaces: { ...NAMESPACES, ...own } });
const calls = (steps: readonly PlanStep[]): readonly string[] => steps.map(({ call }) => call);
const flagsOf = (steps: readonly PlanStep[], call: string): readonly (Word | undefined)[] =>
  steps.filter((step) => step.call === call).map(({ args }) => args[0]);
const WAYS: Readonly<Record<string, readonly PlanStep[]>> = {
  "in namespaces of root": stepsOf({}),
  "in namespaces of a user": withOwn({ user: { uid: 1000, gid: 100 } }),
  "in the network of another command": withOwn({ other: 77, user: { uid: 1000, gid: 100 } }),
  "without namespaces": stepsOf({ namespaces: null, network: "none" }),
};

for (const [name, steps] of Object.entries(WAYS)) {
  Deno.test(`a command ${name} gives up everything before it starts, in the order that makes it last`, () => {
    const order = calls(steps);
    assert.equal(order[0], "close_range");
    const last = ["capset", "landlock_create_ruleset", "landlock_restrict_self", "seccomp"];
    assert.deepEqual(order.filter((call) => last.includes(call)), last);
    assert.equal(order.at(-1), "seccomp");
    for (const mount of ["unshare", "setns", "clone", "pivot_root", "umount2", "move_mount"]) {
      assert.ok(order.lastIndexOf(mount) < order.indexOf("capset"), mount);
    }
  });

  Deno.test(`of a command ${name}, each step must succeed, except where nothing may depend on it`, () => {
    const free = steps.filter(({ fault }) => fault === null);
    const may = ["close", "prctl", "rt_sigaction", "mount_setattr", "readlinkat"];
    assert.deepEqual([...new Set(calls(free))].filter((call) => !may.includes(call)), []);
    const prctl = free.filter(({ call }) => call === "prctl").map(({ args }) => args[0]);
    assert.deepEqual([...new Set(prctl)], [24, 47], "capabilities that it may not have");
    const cleared = free.filter(({ call }) => call === "mount_setattr").map(({ args }) => args[3]);
    for (const change of cleared) assert.deepEqual(change, [0, 1, 0, 0], "a mount that may stay read-only");
  });

  Deno.test(`the paths of a command ${name} are opened without following a link`, () => {
    const opened = steps.filter(({ call }) => call === "openat2");
    for (const { args: [, path, how] } of opened) {
      assert.equal(Array.isArray(how) && how[2], RESOLVE_NO_SYMLINKS, String(path));
    }
    const granted = [...POLICY.read, ...POLICY.write].map(({ path }) => path).concat("/etc", "/dev/null");
    const paths = opened.map(({ args }) => args[1]);
    for (const path of granted) assert.ok(paths.includes(path), path);
    const elsewhere = steps.filter(({ call }) => call === "openat").map(({ args }) => args[1]);
    assert.deepEqual(elsewhere.filter((path) => !/^\/(?:dev\/null|proc\/.*)$/.test(String(path))), []);
  });
}

Deno.test("a user gets a namespace of users, and root none", () => {
  const kinds = (name: string) => flagsOf(WAYS[name] ?? [], "unshare");
  assert.deepEqual(kinds("in namespaces of root").slice(0, -1), [CLONE_NEWNET]);
  assert.deepEqual(kinds("in namespaces of a user").slice(0, -1), [CLONE_NEWUSER, CLONE_NEWNET]);
  const written = (WAYS["in namespaces of a user"] ?? []).filter(({ call }) => call === "write");
  assert.deepEqual(written.map(({ args }) => args[1]), ["deny", "100 100 1", "1000 1000 1"]);
});

Deno.test("a command that joins a network makes none, and checks that it is not the machine's", () => {
  const joined = WAYS["in the network of another command"] ?? [];
  assert.equal(flagsOf(joined, "unshare").includes(CLONE_NEWNET), false);
  const opened = joined.filter(({ call }) => call === "openat").map(({ args }) => args[1]);
  assert.deepEqual(opened.slice(1), ["/proc/77/ns/user", "/proc/77/ns/net"]);
  assert.equal(calls(joined).includes("socket"), false, "its loopback is there already");
  const order = calls(joined);
  assert.ok(order.indexOf("clone") < order.indexOf("sameBytes"));
  const [read, compared] = [joined[order.indexOf("readlinkat")], joined[order.indexOf("sameBytes")]];
  assert.deepEqual(compared?.args.slice(1), ["net:[1]", 7]);
  assert.equal(read?.args[2], compared?.args[0], "the same bytes");
});

Deno.test("each process ends with its parent", () => {
  for (const [name, steps] of Object.entries(WAYS)) {
    const ends = (part: readonly PlanStep[]) => flagsOf(part, "prctl").filter((one) => one === PR_SET_PDEATHSIG).length;
    const fork = calls(steps).indexOf("clone");
    assert.equal(ends(steps.slice(0, Math.max(fork, 0))), fork < 0 ? 0 : 1, name);
    assert.equal(ends(steps.slice(Math.max(fork, 0))), 1, name);
  }
});

Deno.test("no limit is higher than the one of Vis", () => {
  const limits = stepsOf({}).filter(({ call }) => call === "prlimit64");
  const limitOf = (resource: number) => limits.find(({ args }) => args[1] === resource)?.args[2];
  assert.deepEqual([limitOf(RLIMIT_CPU), limitOf(RLIMIT_NOFILE)], [[60, 60], [500, 500]]);
});

Deno.test("outer folders are mounted before inner ones, and an inner one only if its access differs", () => {
  const folder = (path: string) => ({ path, folder: true });
  const read = ["/data/read", "/data/read/only", "/a", "/proc", "/data/read/w/in", "/data/read/w"].map(folder);
  const write = ["/data/read/w", "/data/read/w/sub", "/a/b/c"].map(folder);
  const own: OwnNamespaces = { ...NAMESPACES, layers: [], hidden: { files: [], as: "/home/hidden" } };
  const steps = stepsOf({ read, write, list: ["/etc", "/a/x"], devices: [], namespaces: own });
  const placed = steps.filter(({ call }) => call === "move_mount").map(({ args }) => args[3]);
  assert.deepEqual(placed, ["/a", "/etc", "/a/b/c", "/data/read", "/data/read/w"].map((path) => `/usr${path}`));
  const isReadOnly = steps.filter(({ call, fault }) => call === "mount_setattr" && fault !== null)
    .map(({ args: [, , , change] }) => Array.isArray(change) && (Number(change[0]) & 1) === 1);
  assert.deepEqual(isReadOnly, [true, true, false, true, false, true]);
});

Deno.test("a hidden file is covered last, and no program runs if the file is missing or another one", () => {
  const steps = stepsOf({}), moves = steps.filter(({ call }) => call === "move_mount");
  assert.deepEqual(moves.map(({ wanted: [, other] }) => other), Array(moves.length).fill(0));
  const last = steps.findLastIndex(({ call }) => call === "move_mount");
  const [open, look, compare] = steps.slice(last - 3, last), file = open?.wanted[0];
  assert.deepEqual([open?.call, open?.args[1]], ["openat2", "/usr/data/.env"]);
  assert.deepEqual([look?.call, look?.args[0]], ["statx", file]);
  assert.deepEqual([compare?.call, compare?.args[1], compare?.wanted], ["sameBytes", [7n], [1, 1]]);
  assert.deepEqual(steps[last]?.args.slice(2, 4), [file, ""]);
});

Deno.test("execPlan() makes no plan without Landlock", () => {
  assert.throws(
    () => execPlan(POLICY, { ...MACHINE, abi: 0 }),
    /^Error: Cannot confine a program: this kernel does not offer Landlock/,
  );
});

const RULES = {
  read: [{ path: "/r", folder: true }, { path: "/r/f", folder: false }],
  list: ["/l"],
  write: [{ path: "/w", folder: true }, { path: "/w/f", folder: false }],
  devices: ["/dev/null"],
  network: "none",
  namespaces: null,
} as const;
const WRITE_FILE = 1n << 1n, TRUNCATE = 1n << 14n;

for (let abi = 1; abi <= 7; abi++) {
  Deno.test(`execRules() has rules that a kernel with ABI ${abi} accepts, and opens no other path for writing`, () => {
    const { paths, handledFiles, unsafe } = execRules(abi, RULES);
    assert.deepEqual(unsafe, []);
    for (const { path, rights } of paths) {
      assert.equal(rights & ~handledFiles, 0n, path);
      assert.equal((rights & (WRITE_FILE | TRUNCATE)) !== 0n, ["/w", "/w/f", "/dev/null"].includes(path), path);
    }
  });
}

Deno.test("a command of root in the workspace of a user takes that user's ids, after it has closed the way back", () => {
  const steps = stepsOf({ owner: { uid: 1000, gid: 100 } });
  const at = (call: string) => calls(steps).indexOf(call);
  const idsOf = (call: string) => steps.filter((step) => step.call === call).map(({ args }) => args);
  assert.deepEqual(idsOf("setgroups"), [[0, 0]]);
  assert.deepEqual(idsOf("setresgid"), [[100, 100, 100]]);
  assert.deepEqual(idsOf("setresuid"), [[1000, 1000, 1000]]);
  assert.ok(at("setgroups") < at("setresgid") && at("setresgid") < at("setresuid") && at("setresuid") < at("capset"));
  const dropped = steps.findLastIndex(({ call, args }) => call === "prctl" && args[0] === 24);
  assert.ok(dropped < at("setgroups"), "only root can reduce what it may have");
  // A change of ids clears the signal with which the program ends with its parent.
  const ends = steps.findLastIndex(({ call, args }) => call === "prctl" && args[0] === PR_SET_PDEATHSIG);
  assert.ok(ends > at("setresuid"));
  assert.ok(!calls(stepsOf({})).includes("setresuid"));
});

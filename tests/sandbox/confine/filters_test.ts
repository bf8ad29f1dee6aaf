/** Runs the system call filters for both architectures on any machine. */
import assert from "node:assert/strict";
import { NO_ACCESS } from "../../../src/sandbox/confine/access.ts";
import type { Operation } from "../../../src/sandbox/confine/install_filter.ts";
import {
  type Architecture,
  type CallName,
  numberOf,
  numbersOf,
  SYSTEM_CALLS,
} from "../../../src/sandbox/confine/libc.ts";
import { allowedCalls } from "../../../src/sandbox/confine/allowed_calls.ts";
import { type ProgramNetwork, refusedCalls } from "../../../src/sandbox/exec/refused_calls.ts";
import { filterVerdict } from "../../helpers/filter_verdict.ts";
import { runs } from "../../helpers/long_part.ts";

const AUDIT = { x86_64: 0xc000003e, aarch64: 0xc00000b7 } as const;
const AUDIT_32_BIT = { x86_64: 0x40000003, aarch64: 0x40000028 } as const;
const BOTH = ["x86_64", "aarch64"] as const;
const ALLOW = 0x7fff0000, KILL = 0x80000000, EPERM = 0x50001, EINVAL = 0x50016, ENOSYS = 0x50026;
const PID = 4711;
const ENTRY_CHECK = 6;

const FOLDER = { path: "/f", folder: true };
const CHILD = {
  "a child": NO_ACCESS,
  "a child with grants": { read: [FOLDER], write: [FOLDER], ports: [80] },
} as const;
const NETWORKS: Readonly<Record<string, { readonly network: ProgramNetwork; readonly own: boolean }>> = {
  "a command without network": { network: "none", own: false },
  "a command without network in namespaces": { network: "none", own: true },
  "a command with a private network": { network: "private", own: true },
  "a command alone": { network: "alone", own: true },
  "a command with the network": { network: "internet", own: false },
  "a command with the network in namespaces": { network: "internet", own: true },
};

const FILTERS: readonly (readonly [name: string, filter: (architecture: Architecture) => readonly Operation[]])[] = [
  ...Object.entries(CHILD).map(([name, access]) =>
    [name, (architecture: Architecture) => allowedCalls({ pid: PID, access, architecture })] as const
  ),
  ...Object.entries(NETWORKS).flatMap(([name, place]) =>
    [6, 2].slice(0, runs(1, 2)).map((abi) =>
      [`${name}, ABI ${abi}`, (architecture: Architecture) => refusedCalls({ ...place, abi, architecture })] as const
    )
  ),
];

/** Flags, modes, commands, families and ids that matter to some filter, and their neighbours. */
const ARGUMENTS: readonly (readonly bigint[])[] = [
  [0n, 1n, 2n, 3n, 16n, BigInt(PID), 0x10000n, 0x10010000n],
  [0n, 1n, 2n, 6n, 7n, 0o101n, 0o1001n, 0o4755n, 0x5412n, 0x5421n],
  [0n, 6n, 262n, 0o101n, 0o1000n, 0o1003n, 0o4755n, 0x200000n],
  [0n, 0o4755n, 0x1000n, 0x20000000n],
  [0n, 1n << 32n],
  [0n],
];
const verdictOf = (filter: readonly Operation[], architecture: Architecture, name: CallName, args: readonly bigint[]) =>
  filterVerdict(filter, { architecture: AUDIT[architecture], number: numberOf(name, architecture), args });

for (const [name, filter] of FILTERS) {
  Deno.test(`the filter of ${name} answers each call on arm64 as on x86-64`, () => {
    const [x86, arm] = [filter("x86_64"), filter("aarch64")];
    const calls = (Object.keys(SYSTEM_CALLS) as CallName[]).filter((call) => numbersOf([call], "aarch64").length > 0);
    let compared = 0;
    const compare = (call: CallName, given: readonly bigint[]): void => {
      const args = ARGUMENTS.map((_, at) => given[at] ?? 0n);
      const [here, there] = [verdictOf(x86, "x86_64", call, args), verdictOf(arm, "aarch64", call, args)];
      // Arguments that neither of them reads make no difference.
      if (Math.max(here.reads, there.reads) > given.length) {
        for (const value of ARGUMENTS[given.length] ?? []) compare(call, [...given, value]);
        return;
      }
      compared++;
      if (here.verdict !== there.verdict) assert.fail(`${call}(${args.join(", ")})`);
    };
    for (const call of calls) compare(call, []);
    assert.ok(compared > calls.length);
  });

  Deno.test(`the filter of ${name} ends who enters the kernel by numbers of 32-bit programs`, () => {
    for (const architecture of BOTH) {
      for (const number of [1, 11, 101, numberOf("read", architecture)]) {
        const entered = { architecture: AUDIT_32_BIT[architecture], number, args: [0n, 0n, 0n, 0n, 0n, 0n] };
        assert.equal(filterVerdict(filter(architecture), entered).verdict, KILL);
      }
      const other = architecture === "x86_64" ? "aarch64" : "x86_64";
      const entered = { architecture: AUDIT[other], number: numberOf("read", other), args: [0n, 0n, 0n, 0n, 0n, 0n] };
      assert.equal(filterVerdict(filter(architecture), entered).verdict, KILL);
    }
    const x32 = { architecture: AUDIT.x86_64, number: 0x40000000 | 59, args: [0n, 0n, 0n, 0n, 0n, 0n] };
    assert.equal(filterVerdict(filter("x86_64"), x32).verdict, ENOSYS);
  });

  Deno.test(`the filter of ${name} names each call once`, () => {
    for (const architecture of BOTH) {
      const operations = filter(architecture);
      const numbers: number[] = [];
      for (let at = ENTRY_CHECK; at < operations.length - 1;) {
        const [, , whenFalse, number] = operations[at] as Operation;
        numbers.push(number);
        at += 1 + whenFalse;
      }
      assert.deepEqual(numbers.filter((number, at) => numbers.indexOf(number) !== at), []);
      assert.ok(numbers.length > 50);
    }
  });
}

type Case = readonly [call: CallName, args: readonly (number | bigint)[], verdict: number];

function check(filter: (architecture: Architecture) => readonly Operation[], cases: readonly Case[]): void {
  for (const architecture of BOTH) {
    for (const [call, args, wanted] of cases) {
      if (numbersOf([call], architecture).length === 0) continue;
      const all = Array.from({ length: 6 }, (_, at) => BigInt.asUintN(64, BigInt(args[at] ?? 0)));
      const { verdict } = verdictOf(filter(architecture), architecture, call, all);
      assert.equal(verdict.toString(16), wanted.toString(16), `${call}(${args.join(", ")}) on ${architecture}`);
    }
  }
}

const childFilter = (name: keyof typeof CHILD) => (architecture: Architecture) =>
  allowedCalls({ pid: PID, access: CHILD[name], architecture });

Deno.test("the filter of a child allows threads, its own signal and the necessary calls on open files", () => {
  check(childFilter("a child"), [
    ["read", [0], ALLOW],
    ["futex", [0], ALLOW],
    ["clone", [0x3d0f00], ALLOW], // pthread_create uses these flags.
    ["clone", [0x11], EPERM], // These flags are fork's.
    ["clone3", [0], ENOSYS],
    ["tgkill", [PID, PID, 6], ALLOW],
    ["tgkill", [PID + 1, PID + 1, 6], EPERM],
    ["kill", [PID, 9], EPERM],
    ["ioctl", [0, 0x5421], ALLOW],
    ["ioctl", [0, 0x5412], EPERM],
    ["prctl", [4, 1], EPERM],
    ["prlimit64", [0, 7, 0], ALLOW],
    ["prlimit64", [0, 7, 1n << 40n], EPERM],
    ["openat", [0, 0, 0, 0], EPERM],
    ["open", [0, 0, 0], EPERM],
    ["socket", [2, 1, 0], EPERM],
    ["execve", [0], EPERM],
    ["ptrace", [0], EPERM],
    ["io_uring_setup", [0], EPERM],
  ]);
});

Deno.test("the filter of a child with grants allows their calls and no others", () => {
  check(childFilter("a child with grants"), [
    ["openat", [0, 0, 0o101, 0o644], ALLOW],
    ["openat", [0, 0, 0o101, 0o4755], EPERM],
    ["openat", [0, 0, 0x200000, 0], EPERM],
    ["open", [0, 0, 0], EPERM],
    ["readlinkat", [0], EINVAL],
    ["readlink", [0], EINVAL],
    ["newfstatat", [3, 0, 0, 0x1000], ALLOW],
    ["newfstatat", [0, 0, 0, 0], EPERM],
    ["socket", [2, 1, 6], ALLOW],
    ["socket", [2, 1, 262], EPERM],
    ["socket", [2, 2, 0], EPERM],
    ["sendto", [3, 0, 1, 0, 0], ALLOW],
    ["sendto", [3, 0, 1, 0x20000000, 0], EPERM],
    ["sendto", [3, 0, 1, 0, 1n << 32n], EPERM],
    ["fchmodat", [0], EPERM],
    ["truncate", [0], EPERM],
  ]);
});

const commandFilter = (name: string, abi: number) => (architecture: Architecture) =>
  refusedCalls({ ...NETWORKS[name] ?? assert.fail(name), abi, architecture });

Deno.test("the filter of a command refuses calls that bypass Landlock, and allows the calls that programs need", () => {
  for (const name of Object.keys(NETWORKS)) {
    check(commandFilter(name, 6), [
      ["openat", [0, 0, 0o1001, 0], ALLOW],
      ["execve", [0], ALLOW],
      ["clone", [0x11], ALLOW],
      ["clone", [0x10000011], EPERM], // This makes a user namespace.
      ["clone3", [0], ENOSYS],
      ["openat2", [0], ENOSYS],
      ["kill", [PID, 9], ALLOW],
      ["ptrace", [0], EPERM],
      ["process_vm_readv", [0], EPERM],
      ["keyctl", [0], EPERM],
      ["io_uring_setup", [0], EPERM],
      ["mount", [0], EPERM],
      ["unshare", [0], EPERM],
      ["setns", [0], EPERM],
      ["open_tree_attr", [0], EPERM],
      ["bpf", [0], EPERM],
      ["userfaultfd", [0], EPERM],
      ["open_by_handle_at", [0], EPERM],
      ["ioctl", [0, 0x5412], EPERM],
      ["ioctl", [0, 0x5413], ALLOW],
      ["fcntl", [3, 2], ALLOW],
      ["fcntl", [3, 1024], EPERM], // A lease lets a process that opens the file wait.
      ["fcntl", [3, 1026], EPERM],
      ["prlimit64", [0, 7], ALLOW],
      ["prlimit64", [1, 7], EPERM],
      ["setpriority", [0, 0, 5], ALLOW],
      ["setpriority", [0, 1, 5], EPERM],
      ["setpriority", [2, 0, 5], EPERM],
      ["chmod", [0, 0o755], ALLOW],
      ["chmod", [0, 0o4755], EPERM],
      ["fchmodat", [0, 0, 0o2755], EPERM],
      ["fchmodat2", [0, 0, 0o2755], EPERM],
      ["open", [0, 0o101, 0o4755], EPERM],
      ["openat", [0, 0, 0o101, 0o4755], EPERM],
      ["openat", [0, 0, 0, 0o4755], ALLOW],
      ["socket", [17, 3, 0], EPERM],
    ]);
  }
  check(commandFilter("a command without network", 6), [
    ["socket", [2, 1, 0], EPERM],
    ["socket", [2, 2, 0], EPERM],
    ["socket", [10, 2, 0], EPERM],
    ["shmget", [0], EPERM],
  ]);
  check(commandFilter("a command with a private network", 6), [
    ["socket", [2, 2, 0], ALLOW],
    ["socket", [1, 1, 0], ALLOW],
    ["socket", [16, 3, 0], ALLOW],
    ["socket", [16, 3, 9], EPERM],
    ["shmget", [0], ALLOW],
  ]);
  const NONBLOCK_CLOEXEC = 0x80800;
  check(commandFilter("a command alone", 6), [
    ["socket", [2, 1, 0], ALLOW],
    ["socket", [10, 2, 0], ALLOW],
    ["socket", [16, 3, 0], ALLOW],
    ["socket", [16, 3, 9], EPERM],
    ["socket", [1, 1, 0], EPERM],
    ["socket", [1, 2, 0], EPERM],
    ["socketpair", [1, 1 | NONBLOCK_CLOEXEC, 0], ALLOW],
    ["socketpair", [1, 2, 0], EPERM],
  ]);
  check(commandFilter("a command with the network", 6), [
    ["socket", [2, 1, 6], ALLOW],
    ["socket", [2, 2, 0], ALLOW],
    ["socket", [10, 2 | NONBLOCK_CLOEXEC, 17], ALLOW],
    ["socket", [2, 1, 262], EPERM],
    ["socket", [2, 2, 1], EPERM], // This socket sends pings.
    ["socket", [2, 2, 136], EPERM],
    ["socket", [2, 3, 17], EPERM],
    ["socket", [2, 5, 0], EPERM],
    ["socket", [1, 1, 0], EPERM],
    ["socket", [1, 2, 0], EPERM],
    ["socket", [16, 2, 0], EPERM],
    ["socket", [17, 2, 0], EPERM],
  ]);
});

Deno.test("the filter of a command refuses to empty files where Landlock does not see it", () => {
  const O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0o100, O_TRUNC = 0o1000;
  for (const [name, { own }] of Object.entries(NETWORKS)) {
    for (const abi of [1, 2, 3, 6]) {
      const unseen = abi < 3 && !own ? EPERM : ALLOW; // In namespaces, mounts are read-only.
      const flags = [
        [O_RDONLY, ALLOW],
        [O_RDONLY | O_TRUNC, unseen],
        [O_WRONLY | O_RDWR, ALLOW],
        [O_WRONLY | O_RDWR | O_TRUNC, unseen],
        [O_WRONLY | O_TRUNC, ALLOW],
        [O_RDWR | O_CREAT | O_TRUNC, ALLOW],
      ] as const;
      check(commandFilter(name, abi), [
        ["truncate", [0, 0], unseen],
        ["openat2", [0], ENOSYS],
        ...flags.flatMap(([flag, verdict]): Case[] => [
          ["open", [0, flag, 0o644], verdict],
          ["openat", [-100, 0, flag, 0o644], verdict],
        ]),
        ["openat", [-100, 0, O_WRONLY | O_CREAT | O_TRUNC, 0o4755], EPERM],
      ]);
    }
  }
});

Deno.test("the filter of a command refuses signals where neither Landlock nor a namespace confines them", () => {
  for (const abi of [1, 3, 5]) {
    check(commandFilter("a command without network in namespaces", abi), [["kill", [PID, 9], ALLOW]]);
    check(commandFilter("a command without network", abi), [
      ["kill", [PID, 9], EPERM],
      ["tkill", [PID, 9], EPERM],
      ["tgkill", [PID, PID, 9], EPERM],
      ["rt_sigqueueinfo", [PID, 9], EPERM],
      ["rt_tgsigqueueinfo", [PID, PID, 9], EPERM],
      ["pidfd_send_signal", [3, 9], EPERM],
    ]);
  }
});

import { argument, BPF, denyWith, entryCheck, type Operation, VERDICT, verdict } from "../confine/install_filter.ts";
import { type Architecture, type CallName, numbersOf } from "../confine/libc.ts";

/** Programs get TCP and UDP to any address, only a loopback, a loopback without unix sockets, or no call of
 * `socket`. */
export type ProgramNetwork = "internet" | "private" | "alone" | "none";

const EPERM = 1, ENOSYS = 38;
const JUMP = 0x05;

/** Landlock does not cover the effects of these calls, so the filter refuses the calls to every program. */
const REFUSED: Readonly<Record<string, readonly CallName[]>> = {
  "other processes": ["ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise"],
  "keys of the session": ["add_key", "request_key", "keyctl"],
  "io_uring, which no filter sees into": ["io_uring_setup", "io_uring_enter", "io_uring_register"],
  "namespaces and mounts": [
    "pivot_root",
    "chroot",
    "mount",
    "umount2",
    "unshare",
    "setns",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_tree_attr",
  ],
  "the kernel itself": [
    "modify_ldt",
    "reboot",
    "iopl",
    "ioperm",
    "init_module",
    "delete_module",
    "kexec_load",
    "perf_event_open",
    "finit_module",
    "kexec_file_load",
    "bpf",
    "userfaultfd",
  ],
  "watches and handles past paths": ["fanotify_init", "fanotify_mark", "open_by_handle_at"],
  "the machine": [
    "syslog",
    "vhangup",
    "acct",
    "settimeofday",
    "swapon",
    "swapoff",
    "sethostname",
    "setdomainname",
    "quotactl",
    "clock_settime",
    "clock_adjtime",
  ],
};
/** Programs share memory and queues by number or name, so the filter refuses these calls unless the program has its own
 * namespaces. */
const SHARED: readonly CallName[] = [
  "shmget",
  "shmat",
  "shmctl",
  "semget",
  "semop",
  "semctl",
  "msgget",
  "msgsnd",
  "msgrcv",
  "msgctl",
  "semtimedop",
  "mq_open",
  "mq_unlink",
];
/** A process namespace confines signals, and so does Landlock from ABI 6 on. If both are missing, the filter refuses
 * these calls. */
const SIGNALS: readonly CallName[] = [
  "kill",
  "tkill",
  "tgkill",
  "rt_sigqueueinfo",
  "rt_tgsigqueueinfo",
  "pidfd_send_signal",
];
const SIGNALS_ABI = 6;
/** The arguments of these calls are behind a pointer, so the filter reports the calls as missing. Libraries have a
 * fallback. */
const ABSENT: readonly CallName[] = ["clone3", "openat2"];

interface Check {
  readonly index: number;
  readonly test: "is" | "noneOf" | "bits" | "noBits";
  readonly values: readonly number[];
}

interface RefusedWhen {
  readonly name: CallName;
  readonly when: readonly (readonly Check[])[];
}

const check = (index: number, test: Check["test"], ...values: readonly number[]): Check => ({ index, test, values });
const refused = (name: CallName, ...when: readonly (readonly Check[])[]): RefusedWhen => ({ name, when });

const F_SETLEASE = 1024, F_NOTIFY = 1026;
const NEW_NAMESPACES = 0x7e020000, TIOCSTI = 0x5412, TIOCLINUX = 0x541c;
/** The first bit is O_CREAT, and the second distinguishes O_TMPFILE from O_DIRECTORY. A mode follows the flags only
 * with one of these bits. */
const CREATES = 0o100 | 0o20000000;
const SET_ID = 0o6000;
const O_WRONLY = 1, O_RDWR = 2, O_TRUNC = 0o1000;
/** Landlock covers emptying a file from ABI 3 on. On an older kernel, a program may empty only files that Landlock lets
 * it open for writing. */
const TRUNCATE_ABI = 3;
const AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16, IPPROTO_TCP = 6, IPPROTO_UDP = 17, NETLINK_ROUTE = 0;
const STREAM = 1, DATAGRAM = 2;
const withFlags = (...types: readonly number[]): readonly number[] =>
  types.flatMap((type) => [type, type | 0x800, type | 0x80000, type | 0x80800]);
const NOT_ITSELF = check(0, "noneOf", 0);
/** PRIO_USER and IOPRIO_WHO_USER select all processes of the user, even with 0 for oneself. */
const PRIO_USER = 2, IOPRIO_WHO_USER = 3;

const BY_ARGUMENT: readonly RefusedWhen[] = [
  refused("clone", [check(0, "bits", NEW_NAMESPACES)]),
  refused("ioctl", [check(1, "is", TIOCSTI, TIOCLINUX)]), // Such a call would insert keystrokes into a terminal.
  refused("fcntl", [check(1, "is", F_SETLEASE, F_NOTIFY)]), // A lease delays later openers of the file.
  refused("prlimit64", [NOT_ITSELF]),
  // A process may change the priority of itself and of its process group.
  refused("setpriority", [check(1, "noneOf", 0)], [check(0, "is", PRIO_USER)]),
  refused("ioprio_set", [check(1, "noneOf", 0)], [check(0, "is", IOPRIO_WHO_USER)]),
  refused("sched_setparam", [NOT_ITSELF]),
  refused("sched_setscheduler", [NOT_ITSELF]),
  refused("sched_setaffinity", [NOT_ITSELF]),
  refused("sched_setattr", [NOT_ITSELF]),
  // Files that run with the rights of their owner or group would affect other users of this machine.
  refused("chmod", [check(1, "bits", SET_ID)]),
  refused("fchmod", [check(1, "bits", SET_ID)]),
  refused("fchmodat", [check(2, "bits", SET_ID)]),
  refused("fchmodat2", [check(2, "bits", SET_ID)]),
  refused("creat", [check(1, "bits", SET_ID)]),
  refused("mknod", [check(1, "bits", SET_ID)]),
  refused("mknodat", [check(2, "bits", SET_ID)]),
];

function opening({ emptying }: { readonly emptying: boolean }): readonly RefusedWhen[] {
  return (["open", "openat"] as const).map((name, flags) => {
    const empties = check(flags + 1, "bits", O_TRUNC);
    return refused(
      name,
      [check(flags + 1, "bits", CREATES), check(flags + 2, "bits", SET_ID)],
      ...(emptying ? [] : [
        [empties, check(flags + 1, "noBits", O_WRONLY | O_RDWR)],
        // Landlock checks nothing for both bits together, because the descriptor serves neither reading nor writing.
        [empties, check(flags + 1, "bits", O_WRONLY), check(flags + 1, "bits", O_RDWR)],
      ]),
    );
  });
}

/** Unix sockets lead to services of this machine, except in a private network, whose programs see only granted paths. A
 * workspace may contain a socket of another program, so a program alone gets no unix socket. Netlink only describes a
 * private network, and libraries list addresses with it. */
function sockets(network: ProgramNetwork): readonly RefusedWhen[] {
  switch (network) {
    case "none":
      return [refused("socket", [])];
    case "private":
      return [privateSockets(AF_UNIX)];
    case "alone":
      return [privateSockets(), refused("socketpair", [check(1, "noneOf", ...withFlags(STREAM))])];
    case "internet":
      return [refused(
        "socket",
        [check(0, "noneOf", AF_INET, AF_INET6)],
        [check(1, "noneOf", ...withFlags(STREAM, DATAGRAM))],
        [check(2, "noneOf", 0, IPPROTO_TCP, IPPROTO_UDP)],
      )];
    default:
      return network satisfies never;
  }
}

function privateSockets(...families: readonly number[]): RefusedWhen {
  return refused(
    "socket",
    [check(0, "noneOf", AF_INET, AF_INET6, AF_NETLINK, ...families)],
    [check(0, "is", AF_NETLINK), check(2, "noneOf", NETLINK_ROUTE)],
  );
}

export function refusedCalls(
  { network, own, abi, architecture = Deno.build.arch }: {
    readonly network: ProgramNetwork;
    readonly own: boolean;
    readonly abi: number;
    readonly architecture?: Architecture;
  },
): Operation[] {
  // With namespaces of its own, the program sees read-only paths as read-only mounts.
  const emptying = own || abi >= TRUNCATE_ABI;
  const signals = own || abi >= SIGNALS_ABI;
  const whole: readonly CallName[] = [
    ...Object.values(REFUSED).flat(),
    ...(own ? [] : SHARED),
    ...(emptying ? [] : ["truncate"] as const),
    ...(signals ? [] : SIGNALS),
  ];
  return [
    ...entryCheck(architecture),
    ...numbersOf(ABSENT, architecture).flatMap((number): Operation[] => [[BPF.equal, 0, 1, number], denyWith(ENOSYS)]),
    ...numbersOf(whole, architecture).flatMap((number): Operation[] => [[BPF.equal, 0, 1, number], denyWith(EPERM)]),
    ...[...BY_ARGUMENT, ...opening({ emptying }), ...sockets(network)].flatMap(({ name, when }): Operation[] => {
      const then = [...when.flatMap(alternative), verdict(VERDICT.allow)];
      return numbersOf([name], architecture).flatMap((number) => [[BPF.equal, 0, then.length, number], ...then]);
    }),
    verdict(VERDICT.allow),
  ];
}

function alternative(checks: readonly Check[]): Operation[] {
  let behind: Operation[] = [denyWith(EPERM)];
  for (const one of checks.toReversed()) behind = [...unless(one, behind.length), ...behind];
  return behind;
}

function unless({ index, test, values }: Check, over: number): Operation[] {
  const load: Operation = [BPF.load, 0, 0, argument(index)];
  const out: Operation = [JUMP, 0, 0, over];
  const code = test === "bits" || test === "noBits" ? BPF.anyBit : BPF.equal;
  const compare = values.map((value, at): Operation => [code, values.length - at, 0, value]);
  return test === "noneOf" || test === "noBits" ? [load, ...compare, [JUMP, 0, 0, 1], out] : [load, ...compare, out];
}

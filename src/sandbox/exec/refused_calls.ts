import { argument, BPF, denyWith, ENTRY, type Operation, VERDICT, verdict } from "../confine/install_filter.ts";
import type { ProgramNetwork } from "./exec_policy.ts";

const EPERM = 1, ENOSYS = 38;
/** A jump by the operand. */
const JUMP = 0x05;

/** Calls of x86-64 Linux that are refused to every program behind the wall because they bypass Landlock. */
const REFUSED: Readonly<Record<string, readonly number[]>> = {
  "other processes": [101, 310, 311, 312, 438, 440], // ptrace, process_vm_*, kcmp, pidfd_getfd, process_madvise
  "keys of the session": [248, 249, 250],
  "io_uring, which no filter sees into": [425, 426, 427],
  "namespaces and mounts": [155, 161, 165, 166, 272, 308, 428, 429, 430, 431, 432, 433, 442, 467],
  "the kernel itself": [154, 169, 172, 173, 175, 176, 246, 298, 313, 320, 321, 323],
  "watches and handles past paths": [300, 301, 304],
  "the machine": [103, 153, 163, 164, 167, 168, 170, 171, 179, 227, 305],
};
/** Memory and queues shared by number or name; refused where they are the machine's. */
const SHARED = [29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240, 241];
/** Landlock confines signals from ABI 6 on. Below that, all signal calls are refused: kill, tkill, tgkill, sigqueue, by
 * pidfd. */
const SIGNALS = [62, 200, 234, 129, 297, 424];
const SIGNALS_ABI = 6;
/** Reported as missing: their arguments are behind a pointer, and libraries have a fallback. */
const ABSENT = [435, 437]; // clone3, openat2

interface Check {
  readonly index: number;
  /** True if the value is one of these, none of these, or shares a bit with them. */
  readonly test: "is" | "noneOf" | "bits";
  readonly values: readonly number[];
}

interface RefusedWhen {
  readonly number: number;
  /** Refused if all checks in any one of these lists hold. */
  readonly when: readonly (readonly Check[])[];
}

const check = (index: number, test: Check["test"], ...values: readonly number[]): Check => ({ index, test, values });
const refused = (number: number, ...when: readonly (readonly Check[])[]): RefusedWhen => ({ number, when });

const NEW_NAMESPACES = 0x7e020000, TIOCSTI = 0x5412, TIOCLINUX = 0x541c;
/** O_CREAT, and the bit that distinguishes O_TMPFILE from O_DIRECTORY: only with one of these does a mode follow the
 * flags. */
const CREATES = 0o100 | 0o20000000;
const SET_ID = 0o6000;
const AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16, IPPROTO_TCP = 6, NETLINK_ROUTE = 0;
/** SOCK_STREAM, optionally with SOCK_NONBLOCK and SOCK_CLOEXEC. */
const STREAM = [0x1, 0x801, 0x80001, 0x80801];
const NOT_ITSELF = check(0, "noneOf", 0);
/** PRIO_USER and IOPRIO_WHO_USER: everything that the user runs, even with 0 for oneself. */
const PRIO_USER = 2, IOPRIO_WHO_USER = 3;

const BY_ARGUMENT: readonly RefusedWhen[] = [
  refused(56, [check(0, "bits", NEW_NAMESPACES)]), // clone
  refused(16, [check(1, "is", TIOCSTI, TIOCLINUX)]), // ioctl: keystrokes into a terminal
  refused(302, [NOT_ITSELF]), // prlimit64
  // How other processes are scheduled; for a process itself and its group, all of this is allowed.
  refused(141, [check(1, "noneOf", 0)], [check(0, "is", PRIO_USER)]), // setpriority
  refused(251, [check(1, "noneOf", 0)], [check(0, "is", IOPRIO_WHO_USER)]), // ioprio_set
  refused(142, [NOT_ITSELF]), // sched_setparam
  refused(144, [NOT_ITSELF]), // sched_setscheduler
  refused(203, [NOT_ITSELF]), // sched_setaffinity
  refused(314, [NOT_ITSELF]), // sched_setattr
  // A file that runs with its owner's rights, for other users of this machine.
  refused(90, [check(1, "bits", SET_ID)]), // chmod
  refused(91, [check(1, "bits", SET_ID)]), // fchmod
  refused(268, [check(2, "bits", SET_ID)]), // fchmodat
  refused(452, [check(2, "bits", SET_ID)]), // fchmodat2
  refused(85, [check(1, "bits", SET_ID)]), // creat
  refused(133, [check(1, "bits", SET_ID)]), // mknod
  refused(259, [check(2, "bits", SET_ID)]), // mknodat
  refused(2, [check(1, "bits", CREATES), check(2, "bits", SET_ID)]), // open
  refused(257, [check(2, "bits", CREATES), check(3, "bits", SET_ID)]), // openat
];

/** Unix sockets lead to services of this machine, except where the program sees only files of its own; the rest is always
 * refused. In a private network, netlink only tells about that network: libraries list its addresses so. */
function socket(network: ProgramNetwork): RefusedWhen {
  switch (network.kind) {
    case "none":
      return refused(41, []);
    case "private":
      return refused(
        41,
        [check(0, "noneOf", AF_INET, AF_INET6, AF_NETLINK, ...(network.mounts ? [AF_UNIX] : []))],
        [check(0, "is", AF_NETLINK), check(2, "noneOf", NETLINK_ROUTE)],
      );
    case "tcp":
      return refused(
        41,
        [check(0, "noneOf", AF_INET, AF_INET6)],
        [check(1, "noneOf", ...STREAM)],
        [check(2, "noneOf", 0, IPPROTO_TCP)],
      );
    default:
      return network satisfies never;
  }
}

/** The filter for programs. They need most calls, so it lists those that are refused. */
export function refusedCalls(
  { network, abi }: { readonly network: ProgramNetwork; readonly abi: number },
): Operation[] {
  const isOwn = network.kind === "private" && network.mounts !== null;
  const whole = [...Object.values(REFUSED).flat(), ...(isOwn ? [] : SHARED), ...(abi < SIGNALS_ABI ? SIGNALS : [])];
  return [
    ...ENTRY,
    ...ABSENT.flatMap((number): Operation[] => [[BPF.equal, 0, 1, number], denyWith(ENOSYS)]),
    ...whole.flatMap((number): Operation[] => [[BPF.equal, 0, 1, number], denyWith(EPERM)]),
    ...[...BY_ARGUMENT, socket(network)].flatMap(({ number, when }): Operation[] => {
      const then = [...when.flatMap(alternative), verdict(VERDICT.allow)];
      return [[BPF.equal, 0, then.length, number], ...then];
    }),
    verdict(VERDICT.allow),
  ];
}

/** Refuses if every check holds; otherwise continues after itself. */
function alternative(checks: readonly Check[]): Operation[] {
  let behind: Operation[] = [denyWith(EPERM)];
  for (const one of checks.toReversed()) behind = [...unless(one, behind.length), ...behind];
  return behind;
}

/** Jumps over this many operations if the check does not hold. */
function unless({ index, test, values }: Check, over: number): Operation[] {
  const load: Operation = [BPF.load, 0, 0, argument(index)];
  const out: Operation = [JUMP, 0, 0, over];
  const code = test === "bits" ? BPF.anyBit : BPF.equal;
  // A match jumps to the last operation, or over it.
  const compare = values.map((value, at): Operation => [code, values.length - at, 0, value]);
  return test === "noneOf" ? [load, ...compare, [JUMP, 0, 0, 1], out] : [load, ...compare, out];
}

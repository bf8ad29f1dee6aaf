import type { KernelAccess } from "./access.ts";
import {
  argument,
  BPF,
  denyWith,
  entryCheck,
  installFilter,
  type Operation,
  VERDICT,
  verdict,
} from "./install_filter.ts";
import { type Architecture, type CallName, type Libc, numberOf, numbersOf } from "./libc.ts";

const EPERM = 1, ENOSYS = 38;

export function allowedCalls(
  { pid, access, architecture = Deno.build.arch }: {
    readonly pid: number;
    readonly access: KernelAccess;
    readonly architecture?: Architecture;
  },
): Operation[] {
  const operations: Operation[] = [
    ...entryCheck(architecture),
    // A filter cannot read the flags of clone3, which are behind a pointer; libc falls back to clone.
    [BPF.equal, 0, 1, numberOf("clone3", architecture)],
    denyWith(ENOSYS),
  ];
  for (const number of numbersOf(ALLOWED, architecture)) {
    operations.push([BPF.equal, 0, 1, number], verdict(VERDICT.allow));
  }
  for (const call of accessCalls(pid, access)) {
    const then = guarded(call);
    for (const number of numbersOf([call.name], architecture)) {
      operations.push([BPF.equal, 0, then.length, number], ...then);
    }
  }
  operations.push(denyWith(EPERM));
  return operations;
}

function guarded({ checks, answer }: GuardedCall): Operation[] {
  if (answer !== undefined) return [denyWith(answer)];
  const refuse = denyWith(EPERM);
  const tests = checks.flatMap(({ index, oneOf, none, some }): Operation[] => {
    const load: Operation = [BPF.load, 0, 0, argument(index)];
    if (none !== undefined) return [load, [BPF.anyBit, 0, 1, none], refuse];
    if (some !== undefined) return [load, [BPF.anyBit, 1, 0, some], refuse];
    if (oneOf === undefined) {
      const high: Operation = [BPF.load, 0, 0, argument(index) + 4];
      return [high, [BPF.equal, 1, 0, 0], refuse, load, [BPF.equal, 1, 0, 0], refuse];
    }
    return [load, ...oneOf.map((value, at): Operation => [BPF.equal, oneOf.length - at, 0, value]), refuse];
  });
  return [...tests, verdict(VERDICT.allow)];
}

/** Call this after loading, which needs calls that the filter refuses. */
export function seccomp(libc: Libc, access: KernelAccess): string[] {
  return installFilter(libc, allowedCalls({ pid: Deno.pid, access }));
}

/** Deno 2.6 to 2.9, V8 and tokio make these calls after their start on x86-64 (strace -f); other kernels and libcs may
 * need more. A new Deno version needs a new trace. */
export const ALLOWED: readonly CallName[] = [
  "read",
  "write",
  "readv",
  "writev",
  "pread64",
  "close",
  "fstat",
  "lseek",
  "recvfrom",
  // mmap can map executable pages, but code in such pages can make only the calls that the filter allows.
  "mmap",
  "munmap",
  "mprotect",
  "mremap",
  "madvise",
  "mincore",
  "brk",
  "pkey_mprotect",
  "pkey_alloc",
  "pkey_free",
  "membarrier",
  // A script with a time limit starts a watchdog thread, and the blocking pool starts threads.
  "futex",
  "set_robust_list",
  "rseq",
  "set_tid_address",
  "sched_yield",
  "sched_getaffinity",
  "sched_getscheduler",
  "sched_getparam",
  "sched_get_priority_max",
  "gettid",
  "getpid",
  "exit",
  "exit_group",
  "epoll_wait",
  "epoll_pwait",
  "epoll_ctl",
  "epoll_create1",
  "eventfd2",
  "poll",
  "ppoll",
  "timerfd_create",
  "timerfd_settime",
  "nanosleep",
  "clock_nanosleep",
  "restart_syscall",
  "clock_gettime",
  "clock_getres",
  "gettimeofday",
  "getrandom",
  "rt_sigaction",
  "rt_sigprocmask",
  "rt_sigreturn",
  "sigaltstack",
  "getcwd",
  "getrusage",
  "sysinfo",
  "uname",
];

/** For `oneOf`, `none` and `some`, the low 32 bits count, as in the kernel for arguments of type int. */
interface GuardedCall {
  readonly name: CallName;
  readonly checks: readonly {
    readonly index: number;
    readonly oneOf?: readonly number[];
    readonly none?: number;
    /** Without `oneOf`, `none` and `some`, the argument must be 0. */
    readonly some?: number;
  }[];
  readonly answer?: number;
}

const AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, SOL_SOCKET = 1, IPPROTO_TCP = 6, SO_ERROR = 4;
/** The values are SOCK_STREAM, optionally with SOCK_NONBLOCK and SOCK_CLOEXEC. */
const STREAM = [0x1, 0x801, 0x80001, 0x80801];
const MSG_FASTOPEN = 0x20000000;
/** The values are TCP_NODELAY, TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT. TCP_ULP and fast open are absent. */
const TCP_OPTIONS = [1, 4, 5, 6];
const O_PATH = 0x200000, O_TMPFILE_BIT = 0x400000, AT_EMPTY_PATH = 0x1000;
const SET_ID_AND_STICKY = 0o7000;
const CLONE_THREAD = 0x10000;
const EINVAL = 22;

const always = (pid: number): readonly GuardedCall[] => [
  { name: "clone", checks: [{ index: 0, some: CLONE_THREAD }] }, // The child may create threads, never processes.
  { name: "tgkill", checks: [{ index: 0, oneOf: [pid] }] }, // `abort()` signals its own process with this call.
  // The values are FIONBIO, FIOCLEX and FIONCLEX, which exclude terminals (TIOCSTI).
  { name: "ioctl", checks: [{ index: 1, oneOf: [0x5421, 0x5451, 0x5450] }] },
  // prctl may name threads and mappings, but cannot change dumpable or the parent death signal.
  { name: "prctl", checks: [{ index: 0, oneOf: [15, 16, 0x53564d41] }] },
  { name: "prlimit64", checks: [{ index: 2 }] }, // The child may read limits, but sets no new value.
  // The values are GETFD, SETFD, GETFL, SETFL and DUPFD_CLOEXEC.
  { name: "fcntl", checks: [{ index: 1, oneOf: [1, 2, 3, 4, 1030] }] },
  // Tokio creates its signal pipe with `socketpair` at the first deadline. A datagram pair could send to any unix
  // socket that has a path.
  { name: "socketpair", checks: [{ index: 0, oneOf: [AF_UNIX] }, { index: 1, oneOf: STREAM }] },
  // Sending to an address would connect a TCP socket past Landlock (fast open), so the address must be null.
  { name: "sendto", checks: [{ index: 3, none: MSG_FASTOPEN }, { index: 4 }] },
];

const NET: readonly GuardedCall[] = [
  // Another stream protocol (MPTCP, SCTP) would bypass Landlock's ports, so the filter allows only TCP.
  {
    name: "socket",
    checks: [
      { index: 0, oneOf: [AF_INET, AF_INET6] },
      { index: 1, oneOf: STREAM },
      { index: 2, oneOf: [0, IPPROTO_TCP] },
    ],
  },
  { name: "connect", checks: [] }, // Landlock checks the port.
  { name: "shutdown", checks: [] },
  { name: "getsockname", checks: [] },
  { name: "getpeername", checks: [] },
  { name: "setsockopt", checks: [{ index: 1, oneOf: [IPPROTO_TCP] }, { index: 2, oneOf: TCP_OPTIONS }] },
  { name: "getsockopt", checks: [{ index: 1, oneOf: [SOL_SOCKET] }, { index: 2, oneOf: [SO_ERROR] }] },
];

const PATHS: readonly GuardedCall[] = [
  // Landlock checks the paths. The filter refuses O_PATH, which Landlock does not see, unnamed files, and files with
  // set-id bits.
  { name: "openat", checks: [{ index: 2, none: O_PATH | O_TMPFILE_BIT }, { index: 3, none: SET_ID_AND_STICKY }] },
  // The filter answers "not a link" for every path, so the runtime uses paths as they are.
  { name: "readlink", checks: [], answer: EINVAL },
  { name: "readlinkat", checks: [], answer: EINVAL },
];

const READ: readonly GuardedCall[] = [
  { name: "getdents64", checks: [] },
  // The call is for open files, but the kernel resolves a path as well, which the filter cannot see. Native code in a
  // child with a read grant therefore learns sizes and times of files outside the grant.
  { name: "newfstatat", checks: [{ index: 3, oneOf: [AT_EMPTY_PATH] }] },
  { name: "statx", checks: [{ index: 2, oneOf: [AT_EMPTY_PATH] }] },
];

function accessCalls(pid: number, { read, write, ports }: KernelAccess): readonly GuardedCall[] {
  return [
    ...always(pid),
    ...(ports.length > 0 ? NET : []),
    ...(read.length + write.length > 0 ? PATHS : []),
    ...(read.length > 0 ? READ : []),
  ];
}

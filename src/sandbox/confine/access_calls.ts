import type { KernelAccess } from "./access.ts";

/** Allowed where every check holds. Of a number the low 32 bits count, as in the kernel for arguments of type int. */
export interface GuardedCall {
  readonly number: number;
  readonly checks: readonly {
    readonly index: number;
    readonly oneOf?: readonly number[];
    /** None of these bits is set. With neither: a pointer that is null. */
    readonly none?: number;
  }[];
  /** Not made at all, and answered with this error. */
  readonly answer?: number;
}

const AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, SOL_SOCKET = 1, IPPROTO_TCP = 6, SO_ERROR = 4;
/** SOCK_STREAM, with SOCK_NONBLOCK and SOCK_CLOEXEC or without. */
const STREAM = [0x1, 0x801, 0x80001, 0x80801];
const MSG_FASTOPEN = 0x20000000;
/** TCP_NODELAY, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT; not TCP_ULP, nor fast open. */
const TCP_OPTIONS = [1, 4, 5, 6];
const O_PATH = 0x200000, O_TMPFILE_BIT = 0x400000, AT_EMPTY_PATH = 0x1000;
const SET_ID_AND_STICKY = 0o7000;
const EINVAL = 22;

const ALWAYS: readonly GuardedCall[] = [
  // A pair of connected ends: tokio makes its signal pipe with it at the first deadline. A pair of datagram ends could
  // send to any unix socket that has a path.
  { number: 53, checks: [{ index: 0, oneOf: [AF_UNIX] }, { index: 1, oneOf: STREAM }] },
  // send() without an address: an address would connect a TCP socket past Landlock (fast open).
  { number: 44, checks: [{ index: 3, none: MSG_FASTOPEN }, { index: 4 }] },
];

const NET: readonly GuardedCall[] = [
  // socket: TCP only. Another protocol of streams (MPTCP, SCTP) would pass by Landlock's ports.
  {
    number: 41,
    checks: [
      { index: 0, oneOf: [AF_INET, AF_INET6] },
      { index: 1, oneOf: STREAM },
      { index: 2, oneOf: [0, IPPROTO_TCP] },
    ],
  },
  { number: 42, checks: [] }, // connect: the port is Landlock's
  { number: 48, checks: [] }, // shutdown
  { number: 51, checks: [] }, // getsockname
  { number: 52, checks: [] }, // getpeername
  { number: 54, checks: [{ index: 1, oneOf: [IPPROTO_TCP] }, { index: 2, oneOf: TCP_OPTIONS }] }, // setsockopt
  { number: 55, checks: [{ index: 1, oneOf: [SOL_SOCKET] }, { index: 2, oneOf: [SO_ERROR] }] }, // getsockopt
];

const PATHS: readonly GuardedCall[] = [
  // openat: the paths are Landlock's. Not O_PATH, which Landlock does not see, and no file with set-id bits.
  { number: 257, checks: [{ index: 2, none: O_PATH | O_TMPFILE_BIT }, { index: 3, none: SET_ID_AND_STICKY }] },
  // readlink and readlinkat: "not a link" to everything, so that a path is taken as it stands and tells nothing.
  { number: 89, checks: [], answer: EINVAL },
  { number: 267, checks: [], answer: EINVAL },
];

const READ: readonly GuardedCall[] = [
  { number: 217, checks: [] }, // getdents64
  // newfstatat and statx, meant for open files. A path beside the flag is looked up as well, and the filter cannot see
  // it: native code in a child with a read grant learns sizes and times of any file, not what is in it.
  { number: 262, checks: [{ index: 3, oneOf: [AT_EMPTY_PATH] }] },
  { number: 332, checks: [{ index: 2, oneOf: [AT_EMPTY_PATH] }] },
];

/** Calls of x86-64 Linux that depend on more than one argument, or on what is granted. No bind, no listen, no UDP, no
 * unlink, rename, link, chmod in any of them. */
export function accessCalls({ read, write, ports }: KernelAccess): readonly GuardedCall[] {
  return [
    ...ALWAYS,
    ...(ports.length > 0 ? NET : []),
    ...(read.length + write.length > 0 ? PATHS : []),
    ...(read.length > 0 ? READ : []),
  ];
}

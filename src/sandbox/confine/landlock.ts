import type { Libc } from "./libc.ts";

// The same numbers on every architecture.
const CREATE_RULESET = 444, RESTRICT_SELF = 446;
const VERSION = 1n;

/** How many access rights over files each ABI knows (index: ABI; the last for all newer). An unknown right is EINVAL. */
const FILE_RIGHTS = [0, 13, 14, 15, 15, 16];
const NET_RIGHTS = 3n; // TCP bind and connect, ABI 4
const SCOPES = 3n; // abstract unix sockets and signals, ABI 6

export interface Landlock {
  /** The kernel's ABI, 0 where the wall does not stand. */
  readonly abi: number;
  readonly failed: readonly string[];
}

/**
 * Denies this thread, and every thread and process it starts from now on, all paths, TCP ports, abstract sockets and
 * signals to others. Threads that exist already are never covered: call it before the worker is started.
 * It does not see stat, readlink, chmod, unix path sockets, UDP, io_uring or memfd: the system call filter does.
 */
export function landlock(libc: Libc): Landlock {
  const abi = libc.syscall(CREATE_RULESET, [0n, 0n, VERSION]);
  if (abi < 1) return { abi: 0, failed: ["Landlock: not in this kernel"] };
  const rights = (1n << BigInt(FILE_RIGHTS[Math.min(abi, FILE_RIGHTS.length - 1)] ?? 0)) - 1n;
  const attributes = new Uint8Array(new BigUint64Array([rights, NET_RIGHTS, SCOPES]).buffer);
  const size = abi >= 6 ? 24n : abi >= 4 ? 16n : 8n;
  const ruleset = libc.syscall(CREATE_RULESET, [libc.address(attributes), size]);
  if (ruleset < 0) return { abi: 0, failed: [`Landlock: no ruleset (errno ${libc.errno()})`] };
  const result = libc.syscall(RESTRICT_SELF, [BigInt(ruleset)]);
  const errno = libc.errno();
  libc.closeDescriptor(ruleset);
  if (result !== 0) return { abi: 0, failed: [`Landlock: not enforced (errno ${errno})`] };
  return { abi, failed: missing(abi) };
}

/** What an older kernel leaves open, in plain words. */
function missing(abi: number): string[] {
  const gaps: string[] = [];
  if (abi < 4) gaps.push("Landlock: TCP is not covered before ABI 4");
  if (abi < 6) gaps.push("Landlock: signals and abstract sockets are not covered before ABI 6");
  return gaps;
}

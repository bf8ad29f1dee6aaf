import { closeInherited } from "../confine/inherited.ts";
import type { Libc } from "../confine/libc.ts";
import type { ExecPolicy } from "./exec_policy.ts";

const RLIMIT_CPU = 0, RLIMIT_FSIZE = 1, RLIMIT_CORE = 4, RLIMIT_NPROC = 6, RLIMIT_NOFILE = 7;
const PR_SET_PDEATHSIG = 1, PR_CAPBSET_DROP = 24, PR_SET_NO_NEW_PRIVS = 38, PR_CAP_AMBIENT = 47;
const CLEAR_ALL = 4n, SIGKILL = 9n;
const LAST_CAPABILITY = 63;
const CAPABILITY_VERSION_3 = 0x20080522;
const SIG_SETMASK = 2n, SIGNAL_BYTES = 8n, UNCATCHABLE = [9, 19], LAST_SIGNAL = 64;

/** Reduces the process to its uid: no capability that a program of root could regain, no new privileges from set-id
 * files, only the three standard descriptors, default signal handling, limits. It ends with the process that started
 * it. Returns what failed. */
export function dropPrivileges(libc: Libc, limits: ExecPolicy["limits"]): string[] {
  const failed: string[] = [];
  const must = (what: string, result: number): void => {
    if (result < 0) failed.push(`${what}: errno ${libc.errno()}`);
  };
  // Fails for a user without privileges, who has none to drop.
  for (let one = 0n; one <= LAST_CAPABILITY; one++) libc.prctl(PR_CAPBSET_DROP, one);
  libc.prctl(PR_CAP_AMBIENT, CLEAR_ALL);
  must("no_new_privs", libc.prctl(PR_SET_NO_NEW_PRIVS, 1n));
  must("parent death signal", libc.prctl(PR_SET_PDEATHSIG, SIGKILL));
  for (
    const [what, resource, most] of [
      ["processor time", RLIMIT_CPU, limits.cpuSeconds],
      ["size of files", RLIMIT_FSIZE, limits.fileBytes],
      ["core files", RLIMIT_CORE, 0],
      ["processes", RLIMIT_NPROC, limits.processes],
      ["open files", RLIMIT_NOFILE, limits.openFiles],
    ] as const
  ) must(`limit of ${what}`, libc.lowerLimit(resource, most));
  must("capabilities", libc.call("capset", [libc.address(capabilityHeader()), libc.address(new Uint8Array(24))]));
  resetSignals(libc);
  failed.push(...closeInherited(libc));
  return failed;
}

/** Signals that this process ignores (SIGPIPE) or blocks would stay so in the program. */
function resetSignals(libc: Libc): void {
  const nothing = new Uint8Array(32); // struct sigaction: the default, no flags, no mask
  for (let signal = 1; signal <= LAST_SIGNAL; signal++) {
    if (UNCATCHABLE.includes(signal)) continue;
    libc.call("rt_sigaction", [BigInt(signal), libc.address(nothing), 0n, SIGNAL_BYTES]);
  }
  libc.call("rt_sigprocmask", [SIG_SETMASK, libc.address(nothing), 0n, SIGNAL_BYTES]);
}

function capabilityHeader(): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(8);
  new DataView(header.buffer).setUint32(0, CAPABILITY_VERSION_3, true);
  return header;
}

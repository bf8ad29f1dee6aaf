import { closeInherited } from "./inherited.ts";
import type { Libc } from "./libc.ts";

const RLIMIT_DATA = 2, RLIMIT_CORE = 4, RLIMIT_NOFILE = 7;
const PR_SET_PDEATHSIG = 1, PR_SET_DUMPABLE = 4, PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9n;
// No RLIMIT_NPROC: it counts all processes of the user, and does not apply to root. The system call filter allows no
// new ones.
/** Deno needs about twenty; the protocol needs three. */
const OPEN_FILES = 64;
/** It has sizes in kB. `statm` counts pages, whose size differs between kernels. */
/** The groups of the user, which may be thousands, come first. */
const STATUS_BYTES = 1 << 20;
const STATUS = "/proc/self/status", MAPPED = /^VmData:\s+(\d+) kB$/m;

/** Binds the process to its parent and drops what no block needs. Returns what could not be set. */
export class ProcessLimits {
  readonly #libc: Libc;
  #usage = -1;

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  /** Call before Landlock, which would block the file that shows how much memory is mapped. */
  set(parentPid: number): string[] {
    const failed = [
      ...this.#prctl("parent death signal", PR_SET_PDEATHSIG, SIGKILL),
      // No core file, and no process of the same user can attach or read /proc/<pid>/mem.
      ...this.#prctl("dumpable", PR_SET_DUMPABLE, 0n),
      ...this.#prctl("no_new_privs", PR_SET_NO_NEW_PRIVS, 1n),
      ...this.#limit("core files", RLIMIT_CORE, 0),
      ...this.#limit("open files", RLIMIT_NOFILE, OPEN_FILES),
      ...closeInherited(this.#libc),
    ];
    // The parent died before the signal was set. Behind a launcher (0), the end of stdin shows that a moment later.
    if (parentPid !== 0 && Deno.ppid !== parentPid) Deno.exit(1);
    this.#usage = this.#libc.open(STATUS);
    return failed;
  }

  /** Call when everything has been loaded. V8 maps 512 MiB of writable code range per isolate, which the limit counts although no
   * page of it is used. The limit is therefore what the idle child has mapped plus `budget` bytes. */
  setMemory(budget: number): string[] {
    const mapped = Number(MAPPED.exec(this.#libc.readStart(this.#usage, STATUS_BYTES))?.[1]);
    this.#libc.closeDescriptor(this.#usage);
    if (!(mapped > 0)) return [`memory limit: ${STATUS} cannot be read`];
    return this.#limit("memory", RLIMIT_DATA, mapped * 1024 + budget);
  }

  #limit(what: string, resource: number, value: number): string[] {
    return this.#libc.setrlimit(resource, value) === 0 ? [] : [`limit of ${what}: errno ${this.#libc.errno()}`];
  }

  #prctl(what: string, option: number, value: bigint): string[] {
    return this.#libc.prctl(option, value) === 0 ? [] : [`${what}: errno ${this.#libc.errno()}`];
  }
}

import { closeInherited } from "./inherited.ts";
import type { Libc } from "./libc.ts";

const RLIMIT_DATA = 2, RLIMIT_CORE = 4, RLIMIT_NOFILE = 7;
const PR_SET_PDEATHSIG = 1, PR_SET_DUMPABLE = 4, PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9n;
// No RLIMIT_NPROC: it counts all processes of the user, and root is not held by it. The system call filter makes none.
/** Deno needs about twenty; the protocol needs three. */
const OPEN_FILES = 64;
const PAGE_BYTES = 4096;
const STATM = "/proc/self/statm", DATA_FIELD = 5;

/** What binds the process to its parent and takes from it what no block needs. Returns what could not be set. */
export class ProcessLimits {
  readonly #libc: Libc;
  #usage = -1;

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  /** Before Landlock, which would forbid opening the file that tells how much memory is mapped. */
  set(parentPid: number): string[] {
    const failed = [
      ...this.#prctl("parent death signal", PR_SET_PDEATHSIG, SIGKILL),
      // No core file, and nobody of the same user may attach or read /proc/<pid>/mem.
      ...this.#prctl("dumpable", PR_SET_DUMPABLE, 0n),
      ...this.#prctl("no_new_privs", PR_SET_NO_NEW_PRIVS, 1n),
      ...this.#limit("core files", RLIMIT_CORE, 0),
      ...this.#limit("open files", RLIMIT_NOFILE, OPEN_FILES),
      ...closeInherited(this.#libc),
    ];
    // It died before the signal was armed. Behind a launcher (0) the end of stdin says so a moment later.
    if (parentPid !== 0 && Deno.ppid !== parentPid) Deno.exit(1);
    this.#usage = this.#libc.open(STATM);
    return failed;
  }

  /**
   * When the worker is up. V8 maps 512 MiB of code range writable per isolate, which the limit counts though no page
   * of it is used, so the limit is what the idle child has mapped and `budget` bytes over that.
   */
  setMemory(budget: number): string[] {
    const pages = Number(this.#libc.readStart(this.#usage, 256).split(" ")[DATA_FIELD]);
    this.#libc.closeDescriptor(this.#usage);
    if (!(pages > 0)) return [`memory limit: ${STATM} cannot be read`];
    return this.#limit("memory", RLIMIT_DATA, pages * PAGE_BYTES + budget);
  }

  #limit(what: string, resource: number, value: number): string[] {
    return this.#libc.setrlimit(resource, value) === 0 ? [] : [`limit of ${what}: errno ${this.#libc.errno()}`];
  }

  #prctl(what: string, option: number, value: bigint): string[] {
    return this.#libc.prctl(option, value) === 0 ? [] : [`${what}: errno ${this.#libc.errno()}`];
  }
}

import type { KernelAccess } from "./access.ts";
import { landlock } from "./landlock.ts";
import { hasCallNumbers, Libc } from "./libc.ts";
import { seccomp } from "./allowed_calls.ts";

interface ConfinementOptions {
  readonly parentPid: number;
  readonly memoryBytes: number;
  readonly access: KernelAccess;
  readonly limits: boolean;
  readonly landlock: boolean;
  readonly seccomp: boolean;
}

export interface ConfinedWalls {
  readonly process: boolean;
  readonly landlock: number;
  readonly seccomp: boolean;
  readonly failed: readonly string[];
}

/** New threads inherit Landlock, but existing threads do not get it, so `begin` runs as early as possible. `finish`
 * runs after loading, because seccomp refuses calls that loading needs. A process cannot undo either step. */
export class Confinement {
  readonly #options: ConfinementOptions;
  readonly #libc: Libc | null;
  readonly #limits: ProcessLimits | null;
  readonly #failed: string[] = [];
  #process = false;
  #landlock = 0;
  #seccomp = false;

  constructor(options: ConfinementOptions) {
    this.#options = options;
    this.#libc = openLibc(this.#failed);
    this.#limits = this.#libc && options.limits ? new ProcessLimits(this.#libc) : null;
  }

  /** Throws Error if the kernel cannot restrict a granted access exactly. */
  begin(): void {
    const { access } = this.#options;
    if (opens(access) && !this.#libc) {
      // Deno's permissions alone follow a link out of a granted folder and do not apply to native code.
      throw new Error(
        `Cannot apply the grants of the sandbox: it has no kernel wall here (${this.#failed.join(", ")})`,
      );
    }
    if (!this.#libc) return;
    if (this.#limits) this.#note(this.#limits.set(this.#options.parentPid));
    this.#process = this.#limits !== null && this.#failed.length === 0;
    if (!this.#options.landlock) return;
    const { abi, failed } = landlock(this.#libc, access);
    this.#landlock = abi;
    this.#note(failed);
  }

  /** Throws Error if there are grants and the kernel refuses the system call filter. */
  finish(): ConfinedWalls {
    if (this.#libc && this.#limits) {
      const failed = this.#limits.setMemory(this.#options.memoryBytes);
      this.#process &&= failed.length === 0;
      this.#note(failed);
    }
    if (this.#libc && this.#options.seccomp) {
      const failed = seccomp(this.#libc, this.#options.access);
      this.#seccomp = failed.length === 0;
      if (!this.#seccomp && opens(this.#options.access)) {
        throw new Error(
          `Cannot apply the grants of the sandbox: its kernel wall is incomplete (${failed.join(", ")})`,
        );
      }
      this.#note(failed);
    }
    this.#libc?.close();
    return { process: this.#process, landlock: this.#landlock, seccomp: this.#seccomp, failed: this.#failed };
  }

  #note(failed: readonly string[]): void {
    this.#failed.push(...failed);
  }
}

function opens({ read, write, ports }: KernelAccess): boolean {
  return read.length + write.length + ports.length > 0;
}

function openLibc(failed: string[]): Libc | null {
  if (!hasCallNumbers) {
    failed.push(`process limits, Landlock, system call filter: Vis has none on ${Deno.build.target}`);
    return null;
  }
  try {
    return new Libc();
  } catch {
    failed.push("process limits, Landlock, system call filter: Vis cannot load glibc");
    return null;
  }
}

const RLIMIT_DATA = 2, RLIMIT_CORE = 4, RLIMIT_NOFILE = 7;
const PR_SET_PDEATHSIG = 1, PR_SET_DUMPABLE = 4, PR_SET_NO_NEW_PRIVS = 38;
const SIGKILL = 9n;
// RLIMIT_NPROC counts all processes of the user and does not apply to root, so the system call filter prevents new
// processes.
/** A child that has just started has about 14 open files. */
const OPEN_FILES = 64;
/** In `STATUS`, the groups of the user, which may be thousands, precede the line that Vis reads. This file has sizes in
 * kB; `statm` counts pages, whose size differs between kernels. */
const STATUS_BYTES = 1 << 20;
const STATUS = "/proc/self/status", MAPPED = /^VmData:\s+(\d+) kB$/m;

export class ProcessLimits {
  readonly #libc: Libc;
  #usage = -1;

  constructor(libc: Libc) {
    this.#libc = libc;
  }

  /** Call this before Landlock, which would block the file with the mapped memory. */
  set(parentPid: number): string[] {
    const failed = [
      ...this.#prctl("parent death signal", PR_SET_PDEATHSIG, SIGKILL),
      // This setting prevents core files, and stops other processes of the same user from attaching or reading
      // /proc/<pid>/mem.
      ...this.#prctl("dumpable", PR_SET_DUMPABLE, 0n),
      ...this.#prctl("no_new_privs", PR_SET_NO_NEW_PRIVS, 1n),
      ...this.#limit("core files", RLIMIT_CORE, 0),
      ...this.#limit("open files", RLIMIT_NOFILE, OPEN_FILES),
      ...closeInherited(this.#libc),
    ];
    // If the parent died before the kernel set the signal, the child ends here. Behind a launcher (0), the child ends
    // when its input ends.
    if (parentPid !== 0 && Deno.ppid !== parentPid) Deno.exit(1);
    this.#usage = this.#libc.open(STATUS);
    return failed;
  }

  /** V8 maps a large, writable code range per isolate, which the limit counts although its pages are unused. The limit
   * is therefore the mapped memory of the idle child plus `budget` bytes. */
  setMemory(budget: number): string[] {
    const mapped = Number(MAPPED.exec(this.#libc.readStart(this.#usage, STATUS_BYTES))?.[1]);
    this.#libc.closeDescriptor(this.#usage);
    if (!(mapped > 0)) return [`memory limit: Vis cannot read ${STATUS}`];
    return this.#limit("memory", RLIMIT_DATA, mapped * 1024 + budget);
  }

  #limit(what: string, resource: number, value: number): string[] {
    return this.#libc.setrlimit(resource, value) === 0
      ? []
      : [`limit of ${what}: the kernel refused it (${this.#libc.reason()})`];
  }

  #prctl(what: string, option: number, value: bigint): string[] {
    return this.#libc.prctl(option, value) === 0 ? [] : [`${what}: the kernel refused it (${this.#libc.reason()})`];
  }
}

const F_GETFD = 1, FD_CLOEXEC = 1;
const LAST_OF_PROTOCOL = 2;
const FOLDER = "/proc/self/fd";
const BATCH_BYTES = 32 << 10;
const LENGTH = 16, NAME = 19;

/** An exec leaves open only descriptors without close-on-exec, which the runtime sets on its own files. */
function closeInherited(libc: Libc): string[] {
  const folder = libc.open(FOLDER);
  if (folder < 0) return [`inherited descriptors: Vis cannot read ${FOLDER}`];
  const open: number[] = [];
  const batch = new Uint8Array(BATCH_BYTES);
  for (;;) {
    const got = libc.call("getdents64", [BigInt(folder), libc.address(batch), BigInt(BATCH_BYTES)]);
    if (got <= 0) break;
    open.push(...entries(batch.subarray(0, got)));
  }
  for (const descriptor of open) {
    if (descriptor > LAST_OF_PROTOCOL && descriptor !== folder && isInherited(libc, descriptor)) {
      libc.closeDescriptor(descriptor);
    }
  }
  libc.closeDescriptor(folder);
  return [];
}

function isInherited(libc: Libc, descriptor: number): boolean {
  const flags = libc.fcntl(descriptor, F_GETFD);
  return flags >= 0 && (flags & FD_CLOEXEC) === 0;
}

function entries(batch: Uint8Array): number[] {
  const view = new DataView(batch.buffer, batch.byteOffset, batch.byteLength);
  const found: number[] = [];
  for (let at = 0; at < batch.length; at += view.getUint16(at + LENGTH, true)) {
    const end = batch.indexOf(0, at + NAME);
    const name = new TextDecoder().decode(batch.subarray(at + NAME, end));
    if (/^\d+$/.test(name)) found.push(Number(name));
  }
  return found;
}

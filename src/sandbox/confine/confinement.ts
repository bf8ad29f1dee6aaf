import type { KernelAccess } from "./access.ts";
import { landlock } from "./landlock.ts";
import { Libc } from "./libc.ts";
import { ProcessLimits } from "./limits.ts";
import { seccomp } from "./seccomp.ts";

export interface ConfinementOptions {
  readonly parentPid: number;
  /** Over what the idle child has mapped. */
  readonly memoryBytes: number;
  /** What the grants of the child leave open. */
  readonly access: KernelAccess;
  /** Tests turn walls off one by one; nothing else does. */
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

/**
 * Gives up, for this process and for good, all that a block never needs. Order: `beforeWorker` before the worker's
 * thread exists, because Landlock is inherited by new threads and not shared with old ones; `afterWorker` when it is
 * up, because its bootstrap needs calls that seccomp refuses, and seccomp reaches every thread.
 */
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

  /** Throws Error for an access that cannot be held to what it names. */
  beforeWorker(): void {
    const { access } = this.#options;
    if (opens(access) && (!this.#libc || Deno.build.arch !== "x86_64")) {
      // The permissions alone follow a link out of a granted folder, and know nothing of native code.
      throw new Error(
        `Cannot grant paths or net to the sandbox on ${Deno.build.target}: the kernel wall is not tried there`,
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

  /** Throws Error where grants would be left without the system call filter. */
  afterWorker(): ConfinedWalls {
    if (this.#libc && this.#limits) {
      const failed = this.#limits.setMemory(this.#options.memoryBytes);
      this.#process &&= failed.length === 0;
      this.#note(failed);
    }
    if (this.#libc && this.#options.seccomp) {
      const failed = seccomp(this.#libc, this.#options.access);
      this.#seccomp = failed.length === 0;
      if (!this.#seccomp && opens(this.#options.access)) {
        throw new Error(`Cannot grant paths or net to the sandbox: ${failed.join(", ")}`);
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
  if (Deno.build.os !== "linux") {
    failed.push(`process limits, Landlock, system call filter: not on ${Deno.build.os}`);
    return null;
  }
  try {
    return new Libc();
  } catch {
    failed.push("process limits, Landlock, system call filter: no glibc here");
    return null;
  }
}

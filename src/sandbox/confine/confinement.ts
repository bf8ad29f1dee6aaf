import type { KernelAccess } from "./access.ts";
import { hasCallNumbers } from "./call_numbers.ts";
import { landlock } from "./landlock.ts";
import { Libc } from "./libc.ts";
import { ProcessLimits } from "./limits.ts";
import { seccomp } from "./seccomp.ts";

export interface ConfinementOptions {
  readonly parentPid: number;
  /** On top of what the idle child has mapped. */
  readonly memoryBytes: number;
  /** What the grants of the child allow. */
  readonly access: KernelAccess;
  /** Only tests turn walls off one by one. */
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

/** Drops, permanently for this process, everything that a block never needs. Order: `begin` runs as
 * early as possible, because Landlock is inherited by new threads but not applied to existing ones; `finish` runs when
 * everything has been loaded, which needs calls that seccomp refuses. Seccomp applies to every thread. */
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

  /** Throws Error if an access cannot be restricted to what it names. */
  begin(): void {
    const { access } = this.#options;
    if (opens(access) && !this.#libc) {
      // Deno's permissions alone follow a link out of a granted folder and do not apply to native code.
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

  /** Throws Error if there are grants but no system call filter. */
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
  if (!hasCallNumbers) {
    failed.push(`process limits, Landlock, system call filter: not on ${Deno.build.target}`);
    return null;
  }
  try {
    return new Libc();
  } catch {
    failed.push("process limits, Landlock, system call filter: no glibc here");
    return null;
  }
}

import { landlockAbi } from "../confine/landlock.ts";
import { Libc } from "../confine/libc.ts";
import type { ExecMachine } from "./confinement_plan.ts";
import { INIT } from "./init.ts";

const MFD_CLOEXEC = 1n, MFD_ALLOW_SEALING = 2n, MFD_EXEC = 16n;
const F_ADD_SEALS = 1033n, F_GET_SEALS = 1034, EVERY_SEAL = 15n, SEAL_EXEC = 32;

export class InitProgram implements ExecMachine {
  readonly path: string;
  readonly abi: number;
  readonly #libc = new Libc();
  static #own: InitProgram | null = null;

  constructor(folder: string) {
    this.abi = landlockAbi(this.#libc);
    const code = Uint8Array.from(atob(INIT[Deno.build.arch]), (char) => char.charCodeAt(0));
    const descriptor = this.#inMemory(code) ?? this.#onDisk(code, folder);
    this.path = `/proc/self/fd/${descriptor}`;
  }

  /** The program is in memory or, if this fails, in an unnamed file on the disk of `folder`. */
  static of(folder: string): InitProgram {
    return InitProgram.#own ??= new InitProgram(folder);
  }

  readonly hardLimit = (resource: number): number => this.#libc.hardLimit(resource);

  #inMemory(code: Uint8Array<ArrayBuffer>): number | null {
    const name = new TextEncoder().encode("vis-exec\0");
    const made = (flags: bigint): number => this.#libc.call("memfd_create", [this.#libc.address(name), flags]);
    const flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    const runs = made(flags | MFD_EXEC);
    // Before Linux 6.3, the kernel does not know MFD_EXEC, and all memory can run.
    const memory = runs < 0 ? made(flags) : runs;
    if (memory < 0) return null;
    const descriptor = BigInt(memory);
    const never = (this.#libc.fcntl(memory, F_GET_SEALS) & SEAL_EXEC) !== 0;
    const written = this.#libc.call("write", [descriptor, this.#libc.address(code), BigInt(code.length)]);
    const sealed = this.#libc.call("fcntl", [descriptor, F_ADD_SEALS, EVERY_SEAL]);
    if (!never && written === code.length && sealed === 0) return memory;
    this.#libc.closeDescriptor(memory);
    return null;
  }

  #onDisk(code: Uint8Array<ArrayBuffer>, folder: string): number {
    const path = Deno.makeTempFileSync({ dir: folder, prefix: "vis-exec-" });
    try {
      Deno.writeFileSync(path, code);
      Deno.chmodSync(path, 0o500);
      const descriptor = this.#libc.open(path);
      if (descriptor < 0) {
        throw new Error(`Cannot open ${path}: the system refused it (${this.#libc.reason()})`);
      }
      return descriptor;
    } finally {
      Deno.removeSync(path);
    }
  }
}

import { type CommonCall, numberOf } from "./call_numbers.ts";

/** Only two functions: the runtime compiles code for each one at every start, and `syscall` can replace the others that
 * confinement needs. */
const SYMBOLS = {
  // Five arguments: prctl requires unused ones to be zero.
  syscall: { parameters: ["i64", "u64", "u64", "u64", "u64", "u64"], result: "i64" },
  __errno_location: { parameters: [], result: "pointer" },
} as const;

const AT_FDCWD = BigInt.asUintN(64, -100n);
const O_CLOEXEC = 0o2000000n;

type Address = bigint;

/** Access to the kernel through libc. Opened once and closed before the first foreign byte is read. */
export class Libc {
  readonly #library: Deno.DynamicLibrary<typeof SYMBOLS>;

  /** Throws if there is no glibc: other systems have no wall that could be built with it. */
  constructor() {
    this.#library = Deno.dlopen("libc.so.6", SYMBOLS);
  }

  prctl(option: number, value: bigint): number {
    return this.call("prctl", [BigInt(option), value]);
  }

  setrlimit(resource: number, value: number): number {
    const pair = new BigUint64Array([BigInt(value), BigInt(value)]);
    const limit = this.address(new Uint8Array(pair.buffer));
    return this.call("prlimit64", [0n, BigInt(resource), limit]);
  }

  /** How far a limit of this process may be raised. Throws Error if the system does not say it. */
  hardLimit(resource: number): number {
    const found = new BigUint64Array(2); // what applies now, and how far it may be raised
    if (this.call("prlimit64", [0n, BigInt(resource), 0n, this.address(new Uint8Array(found.buffer))]) < 0) {
      throw new Error(`Cannot read a limit of this process: errno ${this.errno()}`);
    }
    return Number(found[1]);
  }

  /** Makes a system call; returns what it returns, or -1 on failure. */
  call(name: CommonCall, args: readonly [bigint?, bigint?, bigint?, bigint?, bigint?]): number {
    const [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n] = args;
    return Number(this.#library.symbols.syscall(BigInt(numberOf(name)), a, b, c, d, e));
  }

  /** Opens a path for reading; returns a descriptor, or a negative number on failure. */
  open(path: string): number {
    const name = new TextEncoder().encode(`${path}\0`);
    return this.call("openat", [AT_FDCWD, this.address(name), O_CLOEXEC]);
  }

  /** For commands without an argument. */
  fcntl(descriptor: number, command: number): number {
    return this.call("fcntl", [BigInt(descriptor), BigInt(command)]);
  }

  readStart(descriptor: number, maxBytes: number): string {
    return new TextDecoder().decode(this.readAt(descriptor, { maxBytes, offset: 0 }));
  }

  /** The bytes that one read returns at this offset; empty at the end. */
  readAt(
    descriptor: number,
    { maxBytes, offset }: { readonly maxBytes: number; readonly offset: number },
  ): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(maxBytes);
    const from = [
      BigInt.asUintN(64, BigInt(descriptor)),
      this.address(bytes),
      BigInt(maxBytes),
      BigInt(offset),
    ] as const;
    return bytes.subarray(0, Math.max(this.call("pread64", [...from]), 0));
  }

  closeDescriptor(descriptor: number): void {
    this.call("close", [BigInt.asUintN(64, BigInt(descriptor))]);
  }

  /** For messages alone: the runtime may have made calls of its own since, as it does where its threads wait for each
   * other. What to do next is decided by what a call returns. */
  errno(): number {
    const at = this.#library.symbols.__errno_location();
    return at ? new Deno.UnsafePointerView(at).getInt32() : 0;
  }

  /** The bytes must stay referenced until the call that receives the address has returned. */
  address(bytes: Uint8Array<ArrayBuffer>): Address {
    return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  }

  close(): void {
    this.#library.close();
  }
}

/** The few libc functions that confinement needs. Opened once, closed before the first foreign byte. */
const SYMBOLS = {
  prctl: { parameters: ["i32", "u64", "u64", "u64", "u64"], result: "i32" },
  setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  syscall: { parameters: ["i64", "u64", "u64", "u64", "u64"], result: "i64" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  fcntl: { parameters: ["i32", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  pread: { parameters: ["i32", "buffer", "u64", "i64"], result: "i64" },
  __errno_location: { parameters: [], result: "pointer" },
} as const;

type Address = bigint;

export class Libc {
  readonly #library: Deno.DynamicLibrary<typeof SYMBOLS>;

  /** Throws where there is no glibc: other systems have no wall that could be built with it. */
  constructor() {
    this.#library = Deno.dlopen("libc.so.6", SYMBOLS);
  }

  prctl(option: number, value: bigint): number {
    return this.#library.symbols.prctl(option, value, 0n, 0n, 0n);
  }

  setrlimit(resource: number, value: number): number {
    const pair = new BigUint64Array([BigInt(value), BigInt(value)]);
    return this.#library.symbols.setrlimit(resource, new Uint8Array(pair.buffer));
  }

  syscall(number: number, args: readonly [bigint?, bigint?, bigint?, bigint?]): number {
    const [a = 0n, b = 0n, c = 0n, d = 0n] = args;
    return Number(this.#library.symbols.syscall(BigInt(number), a, b, c, d));
  }

  /** A descriptor for reading, negative where it cannot be had. */
  open(path: string): number {
    return this.#library.symbols.open(new TextEncoder().encode(`${path}\0`), 0);
  }

  /** For commands without an argument. */
  fcntl(descriptor: number, command: number): number {
    return this.#library.symbols.fcntl(descriptor, command);
  }

  readStart(descriptor: number, maxBytes: number): string {
    const bytes = new Uint8Array(maxBytes);
    const got = Number(this.#library.symbols.pread(descriptor, bytes, BigInt(maxBytes), 0n));
    return new TextDecoder().decode(bytes.subarray(0, Math.max(got, 0)));
  }

  closeDescriptor(descriptor: number): void {
    this.#library.symbols.close(descriptor);
  }

  errno(): number {
    const at = this.#library.symbols.__errno_location();
    return at ? new Deno.UnsafePointerView(at).getInt32() : 0;
  }

  address(bytes: Uint8Array<ArrayBuffer>): Address {
    return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  }

  close(): void {
    this.#library.close();
  }
}

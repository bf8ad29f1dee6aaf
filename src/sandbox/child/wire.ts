/** Deno's reads of stdin that do not block run in another thread, two hops away. */
const POLL_IN = 1;
const SYMBOLS = {
  poll: { parameters: ["buffer", "u64", "i32"], result: "i32" },
  fcntl: { parameters: ["i32", "i32", "i32"], result: "i32" },
} as const;
/** What both pipes take at once, where they took 64 KiB: large values then cost fewer turns of both processes. */
const SET_PIPE_SIZE = 1031, PIPE_BYTES = 256 << 10;

/** The pipe from the main process. To be made before the walls stand. */
export class Wire {
  readonly #poll: ((descriptors: Uint8Array<ArrayBuffer>, count: bigint, ms: number) => number) | null = poller();
  /** struct pollfd of stdin. */
  readonly #stdin = new Uint8Array([0, 0, 0, 0, POLL_IN, 0, 0, 0]);

  /** Whether `waits` can be asked for more than nothing. */
  get canWait(): boolean {
    return this.#poll !== null;
  }

  read(into: Uint8Array): Promise<number | null> {
    return Deno.stdin.read(into);
  }

  /** Blocks the thread for at most `ms`: whether `readSync` would return at once. */
  waits(ms: number): boolean {
    return this.#poll !== null && this.#poll(this.#stdin, 1n, ms) > 0;
  }

  readSync(into: Uint8Array): number | null {
    return Deno.stdin.readSync(into);
  }
}

function poller() {
  try {
    if (Deno.build.os !== "linux") return null;
    const { poll, fcntl } = Deno.dlopen("libc.so.6", SYMBOLS).symbols;
    for (const pipe of [0, 1]) fcntl(pipe, SET_PIPE_SIZE, PIPE_BYTES); // may be refused, and is no pipe behind a launcher
    return poll;
  } catch {
    return null;
  }
}

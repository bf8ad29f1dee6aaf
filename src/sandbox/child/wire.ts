/** Deno's reads of stdin that do not block run in another thread, two hops away. */
const POLL_IN = 1;
const SYMBOLS = { poll: { parameters: ["buffer", "u64", "i32"], result: "i32" } } as const;

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
    return Deno.build.os === "linux" ? Deno.dlopen("libc.so.6", SYMBOLS).symbols.poll : null;
  } catch {
    return null;
  }
}

/** `bin/vis` repeats these flags in sh, and a test compares both lists. */

/** The reasons for the flags:
 * - The main process must not evaluate text as code.
 * - A young generation of 2 MB instead of 16 makes a process smaller, without more processor time (`deno task bench
 *   memory round`).
 * - A cache of compiled scripts would keep blocks of a child that no later block reuses.
 * - Under load, V8 would let the heap grow to four times the live data, so V8 collects a heap that has doubled. */
export const V8_FLAGS: readonly string[] = [
  "--disallow-code-generation-from-strings",
  "--max-semi-space-size=2",
  "--no-compilation-cache",
  "--heap-growing-percent=100",
];

/** All processes of the executable share this limit, which is below the memory limit of the sandbox. A runaway block
 * then ends soon instead of collecting garbage for seconds. */
export const COMPILED_HEAP_MIB = 384;

export const PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  "--allow-env",
  "--allow-net",
  "--allow-run",
  "--allow-sys",
  "--allow-ffi",
];

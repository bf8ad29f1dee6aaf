/** The runtime flags of the program, from source and compiled. `bin/vis` repeats the flags in sh; a test compares
 * both. */

/** The reasons for the flags:
 * - No `eval` and no Function constructor, not even in the main process.
 * - The young generation of the heap takes 2 MB instead of 16. A process of 50 rounds is then 10 MB smaller and no
 *   slower (`deno task bench memory round`). With 1 MB it would be 4 MB smaller still, but code that makes many objects
 *   would take a tenth more processor time.
 * - No cache of compiled scripts, which would keep every block of a child permanently, 1 KB each, and never reuse one.
 * - The heap is collected when it has doubled. By default, V8 waits under load until it is four times the size of the
 *   live data. A server with 50 busy conversations then takes 237 MB instead of 173. With growth by half it would take
 *   150, but a tenth more processor time. */
export const V8_FLAGS: readonly string[] = [
  "--disallow-code-generation-from-strings",
  "--max-semi-space-size=2",
  "--no-compilation-cache",
  "--heap-growing-percent=100",
];

/** The heap limit of each process of a compiled program. The flag is compiled in, with one value for all. The limit is
 * below the sandbox's memory budget, so that a runaway block ends soon instead of collecting garbage for seconds. */
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

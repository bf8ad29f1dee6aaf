/** What the program runs with, from source and compiled. `bin/vis` says the same in sh; a test compares them. */

/** Takes `eval` and every Function constructor away, in the main process as well; keeps the young part of the heap to
 * 4 MB instead of 16: a process of 50 rounds is 7 MB smaller and no slower (`deno task bench memory round`); and does
 * without V8's cache of compiled scripts, which holds every block of a child for good, 1 KB each, and finds none again. */
export const V8_FLAGS: readonly string[] = [
  "--disallow-code-generation-from-strings",
  "--max-semi-space-size=4",
  "--no-compilation-cache",
];

/** The heap that a compiled program gives each of its processes: the flag is baked in, one value for all. It is below
 * the sandbox's memory budget, so that a runaway block ends soon instead of collecting garbage for seconds. */
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

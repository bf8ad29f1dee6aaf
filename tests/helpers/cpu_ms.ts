const SCHEDULER_STATISTICS = "/proc/thread-self/schedstat";

/** On Linux, the result is the processor time of this thread, which other programs do not change. Elsewhere, the result
 * is the elapsed time. */
export function cpuMs(): number {
  if (Deno.build.os !== "linux") return performance.now();
  return Number(Deno.readTextFileSync(SCHEDULER_STATISTICS).split(" ")[0]) / 1e6;
}

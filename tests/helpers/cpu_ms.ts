const SCHEDULER_STATISTICS = "/proc/thread-self/schedstat";

/** Returns the processor time of this thread in milliseconds: the cost of work, independent of the load on the machine.
 * If the system does not report it, returns the elapsed time. */
export function cpuMs(): number {
  if (Deno.build.os !== "linux") return performance.now();
  return Number(Deno.readTextFileSync(SCHEDULER_STATISTICS).split(" ")[0]) / 1e6;
}

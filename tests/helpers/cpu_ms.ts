const SCHEDULER_STATISTICS = "/proc/thread-self/schedstat";

/** Processor time that this thread has used, in milliseconds: what work costs, however busy the machine is. Where the
 * system does not tell, the time that has passed. */
export function cpuMs(): number {
  if (Deno.build.os !== "linux") return performance.now();
  return Number(Deno.readTextFileSync(SCHEDULER_STATISTICS).split(" ")[0]) / 1e6;
}

import { ConfigError } from "../domain/errors.ts";
import { PROC } from "../processes/proc_files.ts";

/** With less the runtime itself breaks down, at a place and with words of its own. */
const LEAST = [
  { name: "Max open files", flag: "-n", least: 64 },
  { name: "Max processes", flag: "-u", least: 32, notRoot: true },
] as const;

/** What the system allows this process. */
class ProcessLimits {
  #held = false;

  /** Before anything that needs many files or writes large ones; once is enough. Throws `ConfigError` where a limit is too
   * low. Where the size of files is limited, the write that goes beyond fails, and no longer ends the process. */
  hold(): void {
    if (this.#held) return;
    const limits = limitsOfSelf();
    for (const { name, flag, least, ...rest } of LEAST) {
      const limit = Number(new RegExp(`^${name}\\s+(\\d+)`, "m").exec(limits)?.[1] ?? Infinity);
      if (limit >= least || "notRoot" in rest && Deno.uid() === 0) continue;
      throw new ConfigError(`Cannot work with ulimit ${flag} ${limit}: ${least} is the least, raise it`);
    }
    this.#held = true;
    if (/^Max file size\s+\d/m.test(limits)) Deno.addSignalListener("SIGXFSZ", () => {});
  }
}

/** "" where the system does not tell. */
function limitsOfSelf(): string {
  try {
    return PROC.read("/proc/self/limits");
  } catch {
    return "";
  }
}

export const PROCESS_LIMITS: Pick<ProcessLimits, "hold"> = new ProcessLimits();

import { ConfigError } from "../../domain/errors.ts";
import { PROC } from "../../processes/proc_files.ts";

/** With less the runtime itself breaks down, at a place and with words of its own. */
const LEAST = [
  { name: "Max open files", flag: "-n", least: 64 },
  { name: "Max processes", flag: "-u", least: 32, notRoot: true },
] as const;

/** What the system allows this process, and what whoever started it asked for. */
class ProcessLimits {
  #held: { readonly ignoresHangup: boolean } | null = null;

  /** Before any signal is listened to, and before anything that needs many files or writes large ones; once is enough.
   * Throws `ConfigError` where a limit is too low. Where the size of files is limited, the write that goes beyond fails,
   * and no longer ends the process; where SIGHUP is ignored it stays so, which the runtime forgets otherwise. */
  hold(): { readonly ignoresHangup: boolean } {
    if (this.#held) return this.#held;
    const limits = ofSelf("limits");
    for (const { name, flag, least, ...rest } of LEAST) {
      const limit = Number(new RegExp(`^${name}\\s+(\\d+)`, "m").exec(limits)?.[1] ?? Infinity);
      if (limit >= least || "notRoot" in rest && Deno.uid() === 0) continue;
      throw new ConfigError(`Cannot work with ulimit ${flag} ${limit}: ${least} is the least, raise it`);
    }
    this.#held = { ignoresHangup: ignoresHangup() };
    if (this.#held.ignoresHangup) Deno.addSignalListener("SIGHUP", () => {});
    if (/^Max file size\s+\d/m.test(limits)) Deno.addSignalListener("SIGXFSZ", () => {});
    return this.#held;
  }
}

/** Whether the process was started to outlive its terminal, as nohup does. */
function ignoresHangup(): boolean {
  const ignored = /^SigIgn:\s*([0-9a-f]+)/m.exec(ofSelf("status"))?.[1];
  if (ignored !== undefined) return (BigInt(`0x${ignored}`) & 1n) !== 0n; // SIGHUP is the first
  // Nothing tells, but nohup leaves no terminal to write to.
  return Deno.build.os !== "windows" && !Deno.stdout.isTerminal() && !Deno.stderr.isTerminal();
}

/** "" where the system does not tell. */
function ofSelf(file: "limits" | "status"): string {
  try {
    return PROC.read(`/proc/self/${file}`);
  } catch {
    return "";
  }
}

export const PROCESS_LIMITS: Pick<ProcessLimits, "hold"> = new ProcessLimits();

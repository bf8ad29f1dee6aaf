import { ConfigError } from "../../domain/errors.ts";
import { PROC } from "../../processes/proc_files.ts";

/** Below these limits, the runtime fails at an unrelated place and with an unrelated message. */
const LEAST = [
  { name: "Max open files", flag: "-n", least: 64 },
  { name: "Max processes", flag: "-u", least: 32, notRoot: true },
] as const;

class ProcessLimits {
  #held: { readonly ignoresHangup: boolean } | null = null;

  /** A listener would replace the ignored SIGHUP that `hold` reads, so the caller calls `hold` before it listens. */
  hold(): { readonly ignoresHangup: boolean } {
    if (this.#held) return this.#held;
    const limits = ofSelf("limits");
    for (const { name, flag, least, ...rest } of LEAST) {
      const limit = Number(new RegExp(`^${name}\\s+(\\d+)`, "m").exec(limits)?.[1] ?? Infinity);
      if (limit >= least || "notRoot" in rest && Deno.uid() === 0) continue;
      throw new ConfigError(
        `Cannot start with ulimit ${flag} ${limit}: Vis needs at least ${least}; raise the limit with ulimit ${flag} ${least}`,
      );
    }
    this.#held = { ignoresHangup: ignoresHangup() };
    if (this.#held.ignoresHangup) Deno.addSignalListener("SIGHUP", () => {});
    if (/^Max file size\s+\d/m.test(limits)) Deno.addSignalListener("SIGXFSZ", () => {});
    return this.#held;
  }
}

function ignoresHangup(): boolean {
  const ignored = /^SigIgn:\s*([0-9a-f]+)/m.exec(ofSelf("status"))?.[1];
  if (ignored !== undefined) return (BigInt(`0x${ignored}`) & 1n) !== 0n; // Bit 0 is SIGHUP.
  // Systems without /proc do not report ignored signals, but nohup leaves no terminal to write to.
  return Deno.build.os !== "windows" && !Deno.stdout.isTerminal() && !Deno.stderr.isTerminal();
}

function ofSelf(file: "limits" | "status"): string {
  try {
    return PROC.read(`/proc/self/${file}`);
  } catch {
    return "";
  }
}

export const PROCESS_LIMITS: Pick<ProcessLimits, "hold"> = new ProcessLimits();

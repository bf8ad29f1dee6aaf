import { ROOT } from "../../scripts/_project.ts";
import type { Programs } from "./programs.ts";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  readonly runtimes: Readonly<Record<string, string>>;
  readonly load: number;
}

export async function describeMachine({ all }: Programs): Promise<Machine> {
  const runtimes: Record<string, string> = {};
  for (const { way, path, args } of all) runtimes[way] = (await output(path, [...args, "version"])).trim();
  return {
    cpu: cpuModel(),
    cores: navigator.hardwareConcurrency,
    memoryGb: Math.round(Deno.systemMemoryInfo().total / 1e9),
    system: `${Deno.build.os} ${Deno.osRelease()} ${Deno.build.arch}`,
    runtimes,
    load: Deno.loadavg()[0] ?? 0,
  };
}

/** A "+" means that files of the program differ from the commit. */
export async function describeCommit(): Promise<string> {
  const hash = (await output("git", ["rev-parse", "--short", "HEAD"])).trim();
  const dirty = (await output("git", ["status", "--porcelain", "--", "src", "extensions", "migrations"])).trim() !== "";
  return hash === "" ? "unknown" : `${hash}${dirty ? "+" : ""}`;
}

function cpuModel(): string {
  try {
    return /^model name\s*:\s*(.+)$/m.exec(Deno.readTextFileSync("/proc/cpuinfo"))?.[1] ?? "unknown";
  } catch {
    return "unknown";
  }
}

async function output(program: string, args: readonly string[]): Promise<string> {
  try {
    const command = new Deno.Command(program, { args: [...args], cwd: ROOT, stdin: "null", stderr: "null" });
    const { success, stdout } = await command.output();
    return success ? new TextDecoder().decode(stdout) : "";
  } catch {
    return "";
  }
}

import process from "node:process";
import { Kernel } from "./kernel.ts";

const STAT_BYTES = 4096;

/** A mark of this process that no later process has, whatever its number is. */
export function thisOwner(): string {
  return `${Deno.pid}:${startOf(Deno.pid) ?? ""}`;
}

/** Whether the process that a mark was made by still lives. Where its start cannot be told, its number decides. */
export function isAliveOwner(mark: string): boolean {
  const [pid = "", start = ""] = mark.split(":");
  const now = startOf(Number(pid));
  return now === null || start === "" ? exists(Number(pid)) : now === start;
}

/** When a process started, in ticks since the machine did; "ended" for one that nobody has waited for yet, null where
 * nothing can be told. By the kernel's own calls: for a file of /proc the runtime wants more permissions than Vis has. */
function startOf(pid: number): string | null {
  try {
    const stat = readText(`proc/${pid}/stat`);
    const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" || state === "X" ? "ended" : fields[18] ?? null;
  } catch {
    return null;
  }
}

/** The begin of a file below the root folder. Throws where there is none, or no such kernel. */
function readText(path: string): string {
  const kernel = Kernel.shared();
  if (kernel === null) throw new Error("Cannot read by calls of Linux");
  const root = kernel.openRoot("/");
  try {
    const file = kernel.open(root, path, { flags: 0 });
    try {
      const bytes = new Uint8Array(STAT_BYTES);
      return new TextDecoder().decode(bytes.subarray(0, kernel.transfer("read", file, bytes)));
    } finally {
      kernel.close(file);
    }
  } finally {
    kernel.close(root);
  }
}

function exists(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // Not allowed to signal it: it exists.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

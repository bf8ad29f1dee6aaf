import { hostname } from "node:os";
import process from "node:process";
import type { ProcessOwner } from "../persistence/store.ts";
import { PROC } from "../processes/proc_files.ts";

/** State and start time (clock ticks since boot) of a process as Linux tells them, "" where the system does not. */
function statusOf(pid: number): { readonly state: string; readonly started: string } {
  try {
    const stat = PROC.read(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", started: fields[19] ?? "" };
  } catch {
    return { state: "", started: "" };
  }
}

/** This process. */
export function thisProcess(): ProcessOwner {
  return { host: hostname(), pid: Deno.pid, started: statusOf(Deno.pid).started };
}

/** Whether the process still runs, null for one of another machine: this one cannot know. One that ended and was not
 * waited for by its parent does not. */
export function isAlive(owner: ProcessOwner): boolean | null {
  if (owner.host !== hostname()) return null;
  const { state, started } = statusOf(owner.pid);
  if (state === "Z" || state === "X") return false;
  if (started !== "" && owner.started !== "") return started === owner.started;
  try {
    return process.kill(owner.pid, 0);
  } catch (error) {
    // Not allowed to signal it: it exists.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

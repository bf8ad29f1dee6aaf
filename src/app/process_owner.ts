import { hostname } from "node:os";
import process from "node:process";
import type { ProcessOwner } from "../persistence/store.ts";

/** Start time of a process in clock ticks since boot, "" where the system does not say. */
function startedAt(pid: number): string {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

/** This process. */
export function thisProcess(): ProcessOwner {
  return { host: hostname(), pid: Deno.pid, started: startedAt(Deno.pid) };
}

/** Whether the process still exists. A process of another machine counts as alive: this one cannot know. */
export function isAlive(owner: ProcessOwner): boolean {
  if (owner.host !== hostname()) return true;
  const started = startedAt(owner.pid);
  if (started !== "" && owner.started !== "") return started === owner.started;
  try {
    return process.kill(owner.pid, 0);
  } catch (error) {
    // Not allowed to signal it: it exists.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

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

/** The boot of the kernel and the namespace of processes: in another one a pid stands for another process, whatever the
 * hosts are called. Where Linux does not tell, a name that no other process has, since none can look at this one. */
function ownSpace(): string {
  if (Deno.build.os !== "linux") return Deno.build.os;
  try {
    return `${PROC.read("/proc/sys/kernel/random/boot_id").trim()} ${PROC.link("/proc/self/ns/pid")}`;
  } catch {
    return crypto.randomUUID();
  }
}

class Self {
  #known: ProcessOwner | null = null;

  get owner(): ProcessOwner {
    const { pid } = Deno;
    return this.#known ??= { host: hostname(), space: ownSpace(), pid, started: statusOf(pid).started };
  }
}

const SELF = new Self();

/** This process; the same each time. */
export function thisProcess(): ProcessOwner {
  return SELF.owner;
}

/** Whether the process still runs, null where this one cannot know: that of another machine, of another boot of this one
 * or of another namespace. One that ended and was not waited for by its parent does not. */
export function isAlive(owner: ProcessOwner): boolean | null {
  if (owner.space !== thisProcess().space) return null;
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

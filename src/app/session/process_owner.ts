import { hostname } from "node:os";
import process from "node:process";
import type { ProcessOwner } from "../../persistence/store/store.ts";
import { PROC } from "../../processes/proc_files.ts";

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
  #last = 0;
  readonly sessions = new Set<number>();

  get owner(): ProcessOwner {
    const { pid } = Deno;
    return this.#known ??= { host: hostname(), space: ownSpace(), pid, started: statusOf(pid).started, session: 0 };
  }

  begin(): number {
    this.sessions.add(++this.#last);
    return this.#last;
  }
}

const SELF = new Self();

/** This process; the same each time. */
export function thisProcess(): ProcessOwner {
  return SELF.owner;
}

/** A part of this process that works on conversations of its own. Closed, it counts as gone: what it could not end may be
 * taken over. */
export function ownSession(): { readonly owner: ProcessOwner; close(): void } {
  const session = SELF.begin();
  return { owner: { ...SELF.owner, session }, close: () => void SELF.sessions.delete(session) };
}

/** Whether the process still runs, null where this one cannot know: that of another machine, of another boot of this one
 * or of another namespace. One that ended and was not waited for by its parent does not. */
export function isAlive(owner: ProcessOwner): boolean | null {
  const self = thisProcess();
  if (owner.space !== self.space) return null;
  if (owner.pid === self.pid && owner.started === self.started && owner.session > 0) {
    return SELF.sessions.has(owner.session);
  }
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

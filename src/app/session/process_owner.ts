import { hostname } from "node:os";
import process from "node:process";
import type { ProcessOwner } from "../../persistence/store/query_store.ts";
import { PROC } from "../../processes/proc_files.ts";

/** State and start time (clock ticks since boot) of a process as Linux reports them; "" on other systems. */
function statusOf(pid: number): { readonly state: string; readonly started: string } {
  try {
    const stat = PROC.read(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", started: fields[19] ?? "" };
  } catch {
    return { state: "", started: "" };
  }
}

/** The kernel's boot and the process namespace: in another one a pid means another process, whatever the host names
 * are. Without Linux's data, a name that no other process has, since none can check this one. */
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

/** This process; always the same value. */
export function thisProcess(): ProcessOwner {
  return SELF.owner;
}

/** A part of this process that works on its own conversations. Once closed it counts as gone: other processes may take
 * over what it could not end. */
export function ownSession(): { readonly owner: ProcessOwner; close(): void } {
  const session = SELF.begin();
  return { owner: { ...SELF.owner, session }, close: () => void SELF.sessions.delete(session) };
}

/** Whether the process is still running; null if this process cannot know, as for another machine, another boot or
 * another namespace. A process that has ended but was not reaped does not count as running. */
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
    // The process exists, but signalling it is not allowed.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

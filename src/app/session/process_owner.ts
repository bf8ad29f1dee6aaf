import { hostname } from "node:os";
import process from "node:process";
import type { ProcessOwner } from "../../persistence/store.ts";
import { PROC } from "../../processes/proc_files.ts";
import { MacProcesses } from "../../processes/seatbelt/process_tree.ts";

interface ProcessFacts {
  /** Equal process ids in different spaces belong to different processes. */
  space(): string;
  statusOf(pid: number): { readonly state: string; readonly started: string };
}

const UNKNOWN = { state: "", started: "" };

const LINUX: ProcessFacts = {
  space: () => `${PROC.read("/proc/sys/kernel/random/boot_id").trim()} ${PROC.link("/proc/self/ns/pid")}`,
  statusOf: (pid) => {
    try {
      const stat = PROC.read(`/proc/${pid}/stat`);
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return { state: fields[0] ?? "", started: fields[19] ?? "" };
    } catch {
      return UNKNOWN;
    }
  },
};

export function macFacts(load: () => Pick<MacProcesses, "boot" | "started"> = () => new MacProcesses()): ProcessFacts {
  const known: { processes?: ReturnType<typeof load> } = {};
  const processes = (): ReturnType<typeof load> => known.processes ??= load();
  return {
    space: () => processes().boot(),
    statusOf: (pid) => ({ state: "", started: processes().started(pid) ?? "" }),
  };
}

/** Vis cannot distinguish boots of Windows, so the process id of an earlier owner may belong to a new process. */
const WINDOWS: ProcessFacts = { space: () => `windows ${hostname()}`, statusOf: () => UNKNOWN };

function factsOf(os: typeof Deno.build.os): ProcessFacts {
  if (os === "linux") return LINUX;
  return os === "darwin" ? macFacts() : WINDOWS;
}

export class OwnProcess {
  readonly #facts: ProcessFacts;
  #known: ProcessOwner | null = null;
  #last = 0;
  readonly #sessions = new Set<number>();

  constructor(facts: ProcessFacts) {
    this.#facts = facts;
  }

  get owner(): ProcessOwner {
    const { pid } = Deno;
    return this.#known ??= { host: hostname(), space: this.#space(), pid, started: this.#started(), session: 0 };
  }

  /** If the system provides no data, a unique name keeps other processes from judging this process. */
  #space(): string {
    try {
      return this.#facts.space();
    } catch {
      return crypto.randomUUID();
    }
  }

  #started(): string {
    try {
      return this.#facts.statusOf(Deno.pid).started;
    } catch {
      return "";
    }
  }

  begin(): { readonly owner: ProcessOwner; close(): void } {
    const session = ++this.#last;
    this.#sessions.add(session);
    return { owner: { ...this.owner, session }, close: () => void this.#sessions.delete(session) };
  }

  isAlive(owner: ProcessOwner): boolean | null {
    const self = this.owner;
    if (owner.space !== self.space) return null;
    if (owner.pid === self.pid && owner.started === self.started && owner.session > 0) {
      return this.#sessions.has(owner.session);
    }
    const { state, started } = this.#facts.statusOf(owner.pid);
    if (state === "Z" || state === "X") return false;
    if (started !== "" && owner.started !== "") return started === owner.started;
    try {
      return process.kill(owner.pid, 0);
    } catch (error) {
      return error instanceof Error && "code" in error && error.code === "EPERM";
    }
  }
}

const SELF = new OwnProcess(factsOf(Deno.build.os));

export function thisProcess(): ProcessOwner {
  return SELF.owner;
}

/** After `close`, the owner counts as gone, and other processes may continue its unfinished work. */
export function ownSession(): { readonly owner: ProcessOwner; close(): void } {
  return SELF.begin();
}

/** Returns null for an owner of another space, for example on another machine. */
export function isAlive(owner: ProcessOwner): boolean | null {
  return SELF.isAlive(owner);
}

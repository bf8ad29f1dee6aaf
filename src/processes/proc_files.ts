import { Libc } from "../sandbox/confine/libc.ts";
import { folderEntries } from "./folder_entries.ts";

const BOTH_ENDS = 2n;
const AT_FDCWD = BigInt.asUintN(64, -100n), O_WRONLY_CLOEXEC = 0o2000001n;
const MAX_BYTES = 8_192, MAX_LINK = 256;

/** The runtime requires every permission for files of /proc, so this class reads such files with direct system
 * calls. */
class ProcFiles {
  #libc: Libc | null = null;

  read(path: string): string {
    return this.#opened(path, (libc, descriptor) => libc.readStart(descriptor, MAX_BYTES));
  }

  /** Another process may change the file meanwhile, so rows may be missing or duplicated. */
  readWhole(path: string): string {
    return this.#opened(path, (libc, descriptor) => {
      const decoder = new TextDecoder();
      let text = "";
      for (let offset = 0;;) {
        const bytes = libc.readAt(descriptor, { maxBytes: MAX_BYTES, offset });
        if (bytes.length === 0) return text + decoder.decode();
        text += decoder.decode(bytes, { stream: true });
        offset += bytes.length;
      }
    });
  }

  link(path: string): string {
    const libc = this.#library();
    const name = new TextEncoder().encode(`${path}\0`);
    const into = new Uint8Array(MAX_LINK);
    const length = libc.call("readlinkat", [AT_FDCWD, libc.address(name), libc.address(into), BigInt(MAX_LINK)]);
    if (length < 0) throw new Error(`Cannot read the link ${path}: the system refused it (${libc.reason()})`);
    return new TextDecoder().decode(into.subarray(0, length));
  }

  write(path: string, text: string): void {
    const libc = this.#library();
    const name = new TextEncoder().encode(`${path}\0`);
    const descriptor = libc.call("openat", [AT_FDCWD, libc.address(name), O_WRONLY_CLOEXEC]);
    if (descriptor < 0) return;
    const bytes = new TextEncoder().encode(text);
    libc.call("write", [BigInt(descriptor), libc.address(bytes), BigInt(bytes.length)]);
    libc.closeDescriptor(descriptor);
  }

  tasks(): number {
    return Number(/\/(\d+)/.exec(this.read("/proc/loadavg"))?.[1] ?? 0);
  }

  processes(): readonly number[] {
    return numbersIn("/proc");
  }

  endSockets(inodes: ReadonlySet<string>): void {
    for (const descriptor of numbersIn("/proc/self/fd")) {
      const [, inode = ""] = /^socket:\[(\d+)\]/.exec(this.#linkOf(descriptor)) ?? [];
      if (inodes.has(inode)) this.#library().call("shutdown", [BigInt(descriptor), BOTH_ENDS]);
    }
  }

  #linkOf(descriptor: number): string {
    try {
      return this.link(`/proc/self/fd/${descriptor}`);
    } catch {
      return ""; // Another task may have closed the descriptor.
    }
  }

  #opened(path: string, read: (libc: Libc, descriptor: number) => string): string {
    const libc = this.#library();
    const descriptor = libc.open(path);
    if (descriptor < 0) throw new Error(`Cannot read ${path}: the system refused it (${libc.reason()})`);
    try {
      return read(libc, descriptor);
    } finally {
      libc.closeDescriptor(descriptor);
    }
  }

  #library(): Libc {
    return this.#libc ??= new Libc();
  }
}

function numbersIn(path: string): readonly number[] {
  const entries = folderEntries(path, { most: Infinity, wanted: () => true });
  return Array.from(entries, ({ name }) => name).filter((name) => /^\d+$/.test(name)).map(Number);
}

export const PROC: Pick<ProcFiles, "read" | "readWhole" | "link" | "write" | "tasks" | "processes" | "endSockets"> =
  new ProcFiles();

export function descendants(root: number): readonly number[] {
  const children = Map.groupBy(readAll(), ({ parent }) => parent);
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []).map((child) => child.pid));
  return found.slice(1);
}

export function childrenOf(root: number): readonly number[] {
  return readAll().filter(({ parent }) => parent === root).map(({ pid }) => pid);
}

/** After `PATIENCE` attempts, a process in an uninterruptible call counts as paused, because the process may wait for a
 * child. */
const MOST_PAUSES = 1_000, PATIENCE = 50;

export async function pauseProgram(root: number): Promise<(() => void) | null> {
  const stopped = new Set<number>();
  const goOn = (): void => stopped.forEach((pid) => send(pid, "SIGCONT"));
  for (let tries = 0, calm = 0; calm < 2; tries++) {
    const isStill = (state: string): boolean => /[TtX]/.test(state) || state === "D" && tries > PATIENCE;
    // A process may have resumed another meanwhile, so all processes must be still at two checks in a row.
    const moving = programsBelow(root).filter(({ state }) => !isStill(state));
    calm = moving.length === 0 ? calm + 1 : 0;
    if (tries > MOST_PAUSES) {
      goOn();
      return null;
    }
    for (const { pid } of moving) {
      stopped.add(pid);
      send(pid, "SIGSTOP");
    }
    if (moving.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return goOn;
}

function programsBelow(root: number): readonly Process[] {
  const all = readAll({ withThreads: true });
  const first = new Set(all.filter(({ parent }) => parent === root).map(({ pid }) => pid));
  const below = new Set(first);
  for (const pid of below) for (const child of all) if (child.parent === pid) below.add(child.pid);
  return all.filter(({ pid }) => below.has(pid) && !first.has(pid));
}

export function send(pid: number, name: Deno.Signal): void {
  try {
    Deno.kill(pid, name);
  } catch { /* The process has ended. */ }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** With `withThreads`, a process whose first thread has ended counts while other threads run. */
function readAll({ withThreads = false } = {}): readonly Process[] {
  return PROC.processes().flatMap((pid) => {
    try {
      const stat = PROC.read(`/proc/${pid}/stat`);
      // The name is in parentheses and may contain any character.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const [state = "", parent] = fields;
      const hasEnded = state === "X" || state === "Z" && !(withThreads && Number(fields[17]) > 1);
      return hasEnded ? [] : [{ pid, parent: Number(parent), state }];
    } catch {
      return []; // The process may have ended before the read.
    }
  });
}

import { PROC } from "./proc_files.ts";

/** Processes below `root` that have not ended: its children first, then theirs. */
export function descendants(root: number): readonly number[] {
  const children = Map.groupBy(readAll(), ({ parent }) => parent);
  const found = [root];
  for (const pid of found) found.push(...(children.get(pid) ?? []).map((child) => child.pid));
  return found.slice(1);
}

export function childrenOf(root: number): readonly number[] {
  return readAll().filter(({ parent }) => parent === root).map(({ pid }) => pid);
}

/** Attempts to pause, a millisecond apart, and those after which a process in an uninterruptible call counts as paused:
 * one that started another waits for it. */
const MOST_PAUSES = 1_000, PATIENCE = 50;

/** Stops every process that the program below the first process of `root` runs, until the returned function is called.
 * Null if one does not stop. */
export async function pauseProgram(root: number): Promise<(() => void) | null> {
  const stopped = new Set<number>();
  const goOn = (): void => stopped.forEach((pid) => send(pid, "SIGCONT"));
  for (let tries = 0, calm = 0; calm < 2; tries++) {
    const isStill = (state: string): boolean => /[TtX]/.test(state) || state === "D" && tries > PATIENCE;
    // One of them may have let another go on since it was looked at: none moves if all are still twice.
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

function send(pid: number, name: Deno.Signal): void {
  try {
    Deno.kill(pid, name);
  } catch { /* ended already */ }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** Those that have not ended; with `withThreads`, also those whose other threads go on. */
function readAll({ withThreads = false } = {}): readonly Process[] {
  return PROC.processes().flatMap((pid) => {
    try {
      const stat = PROC.read(`/proc/${pid}/stat`);
      // The name is in brackets and may contain anything.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const [state = "", parent] = fields;
      const hasEnded = state === "X" || state === "Z" && !(withThreads && Number(fields[17]) > 1);
      return hasEnded ? [] : [{ pid, parent: Number(parent), state }];
    } catch {
      return []; // ended while it was read
    }
  });
}

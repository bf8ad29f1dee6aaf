import { PROC } from "./proc_files.ts";

/** One process as reported by /proc. */
export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
  readonly ended: boolean;
  readonly stopped: boolean;
}

/** Every process below `root`, including those with other parents originally. */
export function descendants(root: number): readonly ProcessFacts[] {
  const children = Map.groupBy(readAll(), ({ parent }) => parent);
  const found: ProcessFacts[] = [];
  const open = [root];
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    for (const child of children.get(pid) ?? []) {
      found.push(child);
      open.push(child.pid);
    }
  }
  return found;
}

/** The hard limit of message queues, which distinguishes confined processes from others; null if the process has
 * ended. */
export function messageQueueLimit(pid: number): number | null {
  try {
    const line = /^Max msgqueue size\s+\S+\s+(\S+)/m.exec(PROC.read(`/proc/${pid}/limits`));
    return line?.[1] === undefined ? null : Number(line[1]); // NaN for "unlimited"
  } catch {
    return null;
  }
}

function readAll(): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const pid of PROC.processes()) {
    try {
      const stat = PROC.read(`/proc/${pid}/stat`);
      // The name is in brackets and may contain anything.
      const [state = "", parent, , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      found.push({
        pid,
        parent: Number(parent),
        session: Number(session),
        ended: state === "Z" || state === "X",
        stopped: state === "T",
      });
    } catch { /* ended while it was read */ }
  }
  return found;
}

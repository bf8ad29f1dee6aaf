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

function readAll(): readonly { readonly pid: number; readonly parent: number }[] {
  return PROC.processes().flatMap((pid) => {
    try {
      const stat = PROC.read(`/proc/${pid}/stat`);
      // The name is in brackets and may contain anything.
      const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" || state === "X" ? [] : [{ pid, parent: Number(parent) }];
    } catch {
      return []; // ended while it was read
    }
  });
}

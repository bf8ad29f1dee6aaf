/** One process. Its start distinguishes it from a later process with the same pid. */
export interface Seen {
  readonly pid: number;
  /** The start in clock ticks since boot. */
  readonly started: string;
}

interface Stat extends Seen {
  readonly parent: number;
  readonly state: string;
}

function statOf(pid: number): Stat | null {
  try {
    const text = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { pid, state: fields[0] ?? "", parent: Number(fields[1]), started: fields[19] ?? "" };
  } catch {
    return null;
  }
}

/** Returns every living process below `pid`. Returns none if the system has no /proc. */
export function descendants(pid: number): readonly Seen[] {
  const all: Stat[] = [];
  for (const { name } of Deno.readDirSync("/proc")) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    if (stat && stat.state !== "Z") all.push(stat);
  }
  const found: Stat[] = [];
  const wanted = new Set([pid]);
  for (let grew = true; grew;) {
    const next = all.filter((one) => wanted.has(one.parent) && !wanted.has(one.pid));
    grew = next.length > 0;
    for (const one of next) {
      wanted.add(one.pid);
      found.push(one);
    }
  }
  return found;
}

/** Returns whether exactly this process still runs. A zombie does not. */
export function runs({ pid, started }: Seen): boolean {
  const stat = statOf(pid);
  return stat !== null && stat.started === started && stat.state !== "Z";
}

/** Returns the processes of `seen` that still run after 20 seconds. */
export async function survivors(seen: readonly Seen[]): Promise<readonly Seen[]> {
  const end = performance.now() + 20_000;
  let left = seen.filter(runs);
  while (left.length > 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    left = left.filter(runs);
  }
  return left;
}

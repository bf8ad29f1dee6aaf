/** Without /proc, each fact is 0 or empty. */

export function treeOf(pid: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const { name } of entries("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(fieldsOf(Number(name))[1] ?? 0);
    children.set(parent, [...children.get(parent) ?? [], Number(name)]);
  }
  const found = [pid];
  for (let at = 0; at < found.length; at++) found.push(...children.get(found[at] ?? 0) ?? []);
  return found;
}

/** Pages that these processes share count once. */
export function proportionalMb(pids: readonly number[]): number {
  return pids.reduce(
    (sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0),
    0,
  ) /
    1024;
}

/** The time includes ended children of this process and their ended children. The system counts in steps of 10 ms, so
 * only a longer run is meaningful. */
export function reapedCpuSeconds(): number {
  const fields = fieldsOf(Deno.pid);
  return (Number(fields[13] ?? 0) + Number(fields[14] ?? 0)) / 100;
}

/** The time excludes children. The system counts in steps of 10 ms. */
export function cpuSeconds(pid: number): number {
  const fields = fieldsOf(pid);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / 100;
}

export function busySeconds(): number {
  const [user = 0, nice = 0, system = 0, _idle, _waiting, irq = 0, soft = 0] =
    /^cpu +(.*)$/m.exec(read("/proc/stat"))?.[1]?.split(" ").map(Number) ?? [];
  return (user + nice + system + irq + soft) / 100;
}

/** The name in /proc/<pid>/stat may contain any character, so the fields begin after its last bracket. */
function fieldsOf(pid: number): string[] {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function entries(folder: string): readonly Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/** A mark of this process that no later process has, whatever its number is. */
export function thisOwner(): string {
  return `${Deno.pid}:${startOf(Deno.pid) ?? ""}`;
}

/** Whether the process that a mark was made by still lives. Where that cannot be told, it does. */
export function isAliveOwner(mark: string): boolean {
  const [pid = "", start = ""] = mark.split(":");
  if (start === "" || Deno.build.os !== "linux") return pid === String(Deno.pid);
  return startOf(Number(pid)) === start;
}

/** When a process started, in ticks since the machine did. */
function startOf(pid: number): string | null {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

import type { Walls } from "./sandbox.ts";

export type WallName = "realm" | "permissions" | "process" | "kernel";

/** Which of the wanted walls are not in place. The kernel wall is Landlock and the system call filter together. */
export function missingWalls(walls: Walls, wanted: readonly WallName[]): readonly WallName[] {
  return wanted.filter((name) => !holds(walls, name));
}

function holds(walls: Walls, name: WallName): boolean {
  if (name === "kernel") return walls.kernel.landlock > 0 && walls.kernel.seccomp;
  return walls[name];
}

import { KnownWall } from "./linux_kernel.ts";
import type { ProcessWall, ProcessWallOptions } from "./process_wall.ts";

/** Runs programs behind a wall. */
export type ProgramWall = Pick<ProcessWall, "spawn" | "walls">;

/** Returns the command wall of this system, whose code is loaded with the first program. */
export function programWall(options: ProcessWallOptions): ProgramWall {
  const isMac = Deno.build.os === "darwin";
  const known = isMac ? null : new KnownWall(options);
  let loaded: Promise<ProgramWall> | null = null;
  const wall = () => loaded ??= known === null ? macWall(options) : linuxWall(options, known);
  return {
    spawn: async (...call) => await (await wall()).spawn(...call),
    walls: async () => await (known ?? await wall()).walls(),
  };
}

async function linuxWall(options: ProcessWallOptions, known: KnownWall): Promise<ProgramWall> {
  const { ProcessWall } = await import("./process_wall.ts");
  return new ProcessWall(options, known);
}

async function macWall(options: ProcessWallOptions): Promise<ProgramWall> {
  const { SeatbeltWall } = await import("./seatbelt_wall.ts");
  return new SeatbeltWall(options);
}

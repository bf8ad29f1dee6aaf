import { KnownWall } from "./linux/known_wall.ts";
import type { LinuxWall, LinuxWallOptions } from "./linux/linux_wall.ts";

export type ProgramWall = Pick<LinuxWall, "spawn" | "walls">;

export function programWall(options: LinuxWallOptions): ProgramWall {
  const isMac = Deno.build.os === "darwin";
  const known = isMac ? null : new KnownWall(options);
  let loaded: Promise<ProgramWall> | null = null;
  const wall = () => loaded ??= known === null ? macWall(options) : linuxWall(options, known);
  return {
    spawn: async (...call) => await (await wall()).spawn(...call),
    walls: async () => await (known ?? await wall()).walls(),
  };
}

async function linuxWall(options: LinuxWallOptions, known: KnownWall): Promise<ProgramWall> {
  const { LinuxWall } = await import("./linux/linux_wall.ts");
  return new LinuxWall(options, known);
}

async function macWall(options: LinuxWallOptions): Promise<ProgramWall> {
  const { SeatbeltWall } = await import("./seatbelt/seatbelt_wall.ts");
  return new SeatbeltWall(options);
}

import { ProcessWall, type ProcessWallOptions } from "./process_wall.ts";
import { SeatbeltWall } from "./seatbelt_wall.ts";

/** The wall around programs that this system has. */
export function programWall(options: ProcessWallOptions): Pick<ProcessWall, "spawn" | "walls"> {
  return Deno.build.os === "darwin" ? new SeatbeltWall(options) : new ProcessWall(options);
}

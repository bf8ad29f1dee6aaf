import { FixedPaths } from "./_fixed_paths.ts";
import { ProcessWall, type ProcessWallOptions, userFolders } from "./process_wall.ts";
import { SeatbeltWall } from "./seatbelt_wall.ts";
import { topsOf, WorkspaceWalk } from "./_workspace_walk.ts";

/** The wall around programs that this system has. */
export function programWall(options: ProcessWallOptions): Pick<ProcessWall, "spawn" | "walls"> {
  if (Deno.build.os !== "darwin") return new ProcessWall(options);
  const files = new WorkspaceWalk(options.secrets ?? []), fixed = new FixedPaths(userFolders(options));
  return new SeatbeltWall({
    ...options,
    secretFiles: async (workspace) => await files.secrets(workspace, await files.look(workspace)),
    kept: async (workspace) => await fixed.find(workspace, topsOf(workspace, await files.look(workspace))),
  });
}

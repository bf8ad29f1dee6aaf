import { isWithin } from "../domain/kit/files.ts";
import { KnownWall } from "./linux_kernel.ts";
import type { ProcessWall, ProcessWallOptions } from "./process_wall.ts";

type ProgramWall = Pick<ProcessWall, "spawn" | "walls">;

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
  const [
    { SeatbeltWall },
    { FixedPaths },
    { linkedSecrets, topsOf, WorkspaceWalk },
    { userFolders },
    { databaseFiles },
  ] = await Promise.all([
    import("./seatbelt_wall.ts"),
    import("./_fixed_paths.ts"),
    import("./_workspace_walk.ts"),
    import("./process_wall.ts"),
    import("./_paths_git_obeys.ts"),
  ]);
  const database = options.database ? databaseFiles(options.database) : [];
  const files = new WorkspaceWalk(options.secrets ?? []), fixed = new FixedPaths(userFolders(options));
  return new SeatbeltWall({
    ...options,
    secretFiles: async (workspace) => {
      const found = await files.look(workspace), hidden = await files.secrets(workspace, found);
      const linked = linkedSecrets(workspace, { ...found, hidden });
      return [...hidden.map(({ path }) => path), ...linked, ...database.filter((path) => isWithin(path, workspace))];
    },
    kept: async (workspace) => await fixed.find(workspace, topsOf(workspace, await files.look(workspace))),
  });
}

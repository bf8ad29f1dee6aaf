import type { EnvironmentParts } from "../environment/environment_parts.ts";
import type { Environment, Settings } from "./settings.ts";

/** `env.spawn`; nothing of it is loaded before the first command. */
export function commandWall(
  { config: { shell }, home }: Pick<Settings, "config" | "home">,
  env: Environment,
): NonNullable<EnvironmentParts["spawn"]> {
  const load = async () => {
    const { ProcessWall } = await import("../processes/process_wall.ts");
    const folders = { home: env["HOME"] || null, visHome: home };
    return new ProcessWall({ private: folders, read: shell.read, network: shell.network, env });
  };
  let wall: ReturnType<typeof load> | null = null;
  return async (workspace, argv, options) => await (await (wall ??= load())).spawn(workspace, argv, options);
}

import type { EnvironmentParts } from "../../environment/environment_parts.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";
import { programSettings } from "../settings/program_settings.ts";
import type { EnvironmentVariables, Settings } from "../settings/settings.ts";

/** `env.spawn`; nothing of it is loaded before the first command. */
export function commandWall(
  settings: Pick<Settings, "config" | "home">,
  { env, parts }: { readonly env: EnvironmentVariables; readonly parts: Pick<ShippedParts, "described"> },
): NonNullable<EnvironmentParts["spawn"]> {
  const load = async () => {
    const { ProcessWall } = await import("../../processes/process_wall.ts");
    const folders = { home: env["HOME"] || null, visHome: settings.home };
    return new ProcessWall({ private: folders, ...programSettings(settings, parts), env });
  };
  let wall: ReturnType<typeof load> | null = null;
  return async (workspace, argv, options) => await (await (wall ??= load())).spawn(workspace, argv, options);
}

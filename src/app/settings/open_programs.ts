import type { UnwalledMode } from "../../extension/spawned.ts";
import { AskedPrograms } from "../../processes/asked/asked_programs.ts";
import { programWall } from "../../processes/program_wall.ts";
import { programSettings } from "./program_settings.ts";
import type { EnvironmentVariables, Settings } from "./settings.ts";
import type { ShippedParts } from "./shipped_parts.ts";

/** Programs of a session, with the wall that the settings describe. `mode` counts before the settings. */
export function openPrograms(
  settings: Pick<Settings, "config" | "home">,
  { env, parts, mode }: {
    readonly env: EnvironmentVariables;
    readonly parts: Pick<ShippedParts, "described">;
    readonly mode?: UnwalledMode | undefined;
  },
): AskedPrograms {
  const { config, home: visHome } = settings;
  const { read, network, unwalled } = programSettings(settings, { ...parts, mode });
  const folders = { home: env["HOME"] || null, visHome };
  const wall = programWall({ private: folders, read, network, secrets: config.secrets, env });
  const shipped = new Set(Object.values(parts.described).map((one) => one?.namespace));
  return new AskedPrograms({
    wall,
    mode: unwalled,
    env,
    visHome,
    vouches: (extension) => shipped.has(extension),
  });
}

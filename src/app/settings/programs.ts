import type { EnvironmentParts } from "../../environment/environment_parts.ts";
import type { UnwalledMode } from "../../extension/spawned.ts";
import type { AskedPrograms } from "../../processes/asked/asked_programs.ts";
import { shippedExtensions, type ShippedParts } from "../extensions/shipped.ts";
import type { EnvironmentVariables, Settings } from "./settings.ts";

/** Extensions' settings for all programs: additional readable paths, a network, and what happens where the wall is not
 * whole, for which `mode` counts before the settings. Their files were checked before. */
export function programSettings(
  { config, sections }: Pick<Settings, "config" | "sections">,
  { mode }: { readonly mode?: UnwalledMode | undefined } = {},
): { readonly read: readonly string[]; readonly network: boolean; readonly unwalled: UnwalledMode } {
  const said = (kind: "network" | "read" | "unwalled"): readonly unknown[] =>
    sections.all.flatMap(({ namespace, programs: { [kind]: key } }) =>
      key === undefined ? [] : [Object(config.extensions.config[namespace])[key]]
    );
  const read = said("read").flat().filter((path) => typeof path === "string");
  const unwalled = config.sandbox.require.includes("kernel")
    ? "off"
    : mode ?? (["off", "run"] as const).find((one) => said("unwalled").includes(one)) ?? "ask";
  return { read, network: said("network").includes(true), unwalled };
}

/** Programs behind the wall that the settings describe, for `env.spawn` and `env.programWalls`. `mode` counts before the
 * settings. The code of the wall is loaded with the first call. */
export function programsOf(
  settings: Pick<Settings, "config" | "sections" | "home">,
  { env, shipped, mode }: Pick<ShippedParts, "shipped"> & {
    readonly env: EnvironmentVariables;
    readonly mode?: UnwalledMode | undefined;
  },
): Required<Pick<EnvironmentParts, "spawn" | "programWalls">> {
  const load = async (): Promise<AskedPrograms> => {
    const [{ AskedPrograms }, { programWall }] = await Promise.all([
      import("../../processes/asked/asked_programs.ts"),
      import("../../processes/process_wall.ts"),
    ]);
    const { config, home: visHome } = settings;
    const { read, network, unwalled } = programSettings(settings, { mode });
    const folders = { home: env["HOME"] || null, visHome };
    const wall = programWall({ private: folders, read, network, secrets: config.secrets, env });
    const known = new Set([...(await shippedExtensions({ shipped })).values()].map(({ namespace }) => namespace));
    return new AskedPrograms({ wall, mode: unwalled, env, visHome, vouches: (extension) => known.has(extension) });
  };
  let loaded: Promise<AskedPrograms> | null = null;
  const programs = () => loaded ??= load();
  return {
    spawn: async (workspace, argv, options, caller) => await (await programs()).spawn(workspace, argv, options, caller),
    programWalls: async () => await (await programs()).walls(),
  };
}

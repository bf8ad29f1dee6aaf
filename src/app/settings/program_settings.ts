import type { ShippedParts } from "./shipped_parts.ts";
import type { UnwalledMode } from "../../extension/spawned.ts";
import type { Settings } from "./settings.ts";

/** Extensions' settings for all programs: additional readable paths, a network, and what happens where the wall is not
 * whole, for which `mode` counts before the settings. Their files were checked before. */
export function programSettings(
  { config }: Pick<Settings, "config">,
  { described, mode }: Pick<ShippedParts, "described"> & { readonly mode?: UnwalledMode | undefined },
): { readonly read: readonly string[]; readonly network: boolean; readonly unwalled: UnwalledMode } {
  const said = (kind: "network" | "read" | "unwalled"): readonly unknown[] =>
    Object.values(described).flatMap((one) => {
      const key = one?.settings?.programs[kind];
      return key === undefined ? [] : [Object(config.extensions.config[one?.namespace ?? ""])[key]];
    });
  const read = said("read").flat().filter((path) => typeof path === "string");
  const unwalled = config.sandbox.require.includes("kernel")
    ? "off"
    : mode ?? (["off", "run"] as const).find((one) => said("unwalled").includes(one)) ?? "ask";
  return { read, network: said("network").includes(true), unwalled };
}

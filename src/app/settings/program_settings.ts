import type { ShippedParts } from "./shipped_parts.ts";
import type { Settings } from "./settings.ts";

/** Extensions' settings for all programs: additional readable paths, and a network. Their files were checked before. */
export function programSettings(
  { config }: Pick<Settings, "config">,
  { described }: Pick<ShippedParts, "described">,
): { readonly read: readonly string[]; readonly network: boolean } {
  const said = (kind: "network" | "read"): readonly unknown[] =>
    Object.values(described).flatMap((one) => {
      const key = one?.settings?.programs[kind];
      return key === undefined ? [] : [Object(config.extensions.config[one?.namespace ?? ""])[key]];
    });
  const read = said("read").flat().filter((path) => typeof path === "string");
  return { read, network: said("network").includes(true) };
}

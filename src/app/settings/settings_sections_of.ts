import { SettingsSections } from "../../config/settings_sections.ts";
import type { ShippedParts } from "./shipped_parts.ts";

/** The sections of the configuration that shipped extensions own. */
export function settingsSectionsOf(
  { described, settings = {} }: Pick<ShippedParts, "described" | "settings">,
): SettingsSections {
  return new SettingsSections(
    Object.entries(settings).flatMap(([name, load]) => {
      const one = described[name];
      if (!one?.settings) return [];
      const { section = null, project, programs } = one.settings;
      const own = programs.unwalled === undefined ? [] : [programs.unwalled];
      return [{ namespace: one.namespace, name: section, project, own, schema: async () => (await load()).default }];
    }),
  );
}

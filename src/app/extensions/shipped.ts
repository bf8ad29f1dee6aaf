import { SettingsSections } from "../../config/layers.ts";
import type { SettingsSection } from "../../domain/settings.ts";
import type { RealmIndex, ShippedIndex } from "../../extension/loader.ts";
import type { Extension } from "../../extension/spec.ts";

/** The shipped extensions as main.ts passes them. */
export interface ShippedParts {
  readonly shipped: ShippedIndex;
  readonly realm?: RealmIndex;
}

/** The shipped extensions by name, whether or not the settings want them. One that cannot be loaded is left out; whoever
 * builds the registry reports it. */
export async function shippedExtensions(
  { shipped }: Pick<ShippedParts, "shipped">,
): Promise<ReadonlyMap<string, Extension>> {
  const found = await Promise.all(
    Object.entries(shipped).map(async ([name, load]) => {
      const extension = await load().then((module) => module.default, () => null);
      return extension ? [[name, extension] as const] : [];
    }),
  );
  return new Map(found.flat());
}

/** The sections of the configuration that shipped extensions own. */
export async function settingsSectionsOf(parts: Pick<ShippedParts, "shipped">): Promise<SettingsSections> {
  const { settingMarks } = await import("../../extension/read_config.ts");
  const sections: SettingsSection[] = [];
  for (const { namespace, section: name = null, config } of (await shippedExtensions(parts)).values()) {
    if (!config) continue;
    const marks = settingMarks(config).map(({ name, value, path: [key = ""] }) => ({
      name,
      value: String(value),
      key,
    }));
    const byValue = (mark: string): Record<string, string> =>
      Object.fromEntries(marks.filter(({ name }) => name === mark).map(({ value, key }) => [value, key]));
    const programs: SettingsSection["programs"] = byValue("programs");
    sections.push({
      namespace,
      name,
      project: marks.filter(({ name }) => name === "project").map(({ key }) => key),
      own: programs.unwalled === undefined ? [] : [programs.unwalled],
      programs,
      offered: byValue("offered"),
      schema: () => Promise.resolve(config),
    });
  }
  return new SettingsSections(sections);
}

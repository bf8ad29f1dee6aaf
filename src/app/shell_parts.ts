import type { ShippedParts } from "./extension_source.ts";
import type { Settings } from "./settings.ts";

const NAME = "shell", NAMESPACE = "vis.shell";

/** What extensions are made of, with the section `shell` of the configuration worked in: the extension is left out
 * unless it is asked for, and finds its rules where extensions look for their settings. */
export function shellParts<S extends Pick<Settings, "config">, P extends Pick<ShippedParts, "shipped">>(
  settings: S,
  parts: P,
): { readonly settings: S; readonly parts: P } {
  const { shell: { enabled, allow, deny }, extensions } = settings.config;
  if (!enabled && !extensions.allow?.some((name) => name === NAME || name === NAMESPACE)) {
    const { [NAME]: _, ...shipped } = parts.shipped;
    return { settings, parts: { ...parts, shipped } };
  }
  if (allow.length + deny.length === 0) return { settings, parts };
  const config = { ...extensions.config, [NAMESPACE]: { allow, deny } };
  return { settings: { ...settings, config: { ...settings.config, extensions: { ...extensions, config } } }, parts };
}

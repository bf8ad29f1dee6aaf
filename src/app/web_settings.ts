import type { Settings } from "./settings.ts";

const NAMESPACE = "vis.web";

/** The section `web` of the configuration where extensions look for their settings. Nothing changes while it is empty:
 * an extension without settings is not loaded before the first request. */
export function webSettings<S extends Pick<Settings, "config">>(settings: S): S {
  const { web, extensions } = settings.config;
  if (web.hosts.length + web.local.length === 0) return settings;
  const config = { ...extensions.config, [NAMESPACE]: web };
  return { ...settings, config: { ...settings.config, extensions: { ...extensions, config } } };
}

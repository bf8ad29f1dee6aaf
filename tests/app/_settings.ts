import * as index from "../../extensions/index.ts";
import { type Settings, settingsSectionsOf } from "../../src/app/settings/settings.ts";
import { loadConfig } from "../../src/config/load.ts";

export const NO_EXTENSIONS = { shipped: {} };

export async function settingsOf(
  { config = {}, env = {}, home = null }: {
    readonly config?: object;
    readonly env?: Readonly<Record<string, string>>;
    readonly home?: string | null;
  },
): Promise<Settings> {
  const file = { path: "config.jsonc", text: JSON.stringify({ localServers: false, ...config }) };
  return {
    ...await loadConfig({ file, env, flags: {}, sections: await settingsSectionsOf(index) }),
    home,
    database: ":memory:",
    workspace: "/w",
    readFolders: [],
    folderNotes: [],
  };
}

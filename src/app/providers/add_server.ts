import { join } from "node:path";
import { setInJsonc } from "../../config/edit_jsonc.ts";
import { valueAt } from "../../config/layers.ts";
import { parseJsonc } from "../../config/parse_jsonc.ts";
import { ConfigError } from "../../domain/errors.ts";
import { serverName } from "./server_name.ts";
import { readConfigFile, type Settings } from "../settings/settings.ts";
import { writeConfigFile } from "../settings/write_config_file.ts";

/** Adds a server to `providers` of the user's configuration, or replaces the one of its name. Comments and order of the
 * file stay. Resolves with its name. */
export async function addServer(
  { baseUrl, model }: { readonly baseUrl: string; readonly model: string },
  { home }: Pick<Settings, "home">,
): Promise<string> {
  if (home === null) throw new ConfigError("Cannot find a home folder: set VIS_HOME to a folder that Vis may write");
  const name = serverName(baseUrl);
  const path = join(home, "config.jsonc");
  const file = await readConfigFile(path);
  const found = file === null ? [] : valueAt(parseJsonc(file), ["providers"]);
  const providers: readonly unknown[] = Array.isArray(found) ? found : [];
  const at = providers.findIndex((one) =>
    typeof one === "object" && one !== null && "name" in one && one.name === name
  );
  const entry = { name, baseUrl, models: [{ name: model }] };
  const change = providers.length === 0
    ? { path: ["providers"], value: [entry] }
    : { path: ["providers", String(at === -1 ? providers.length : at)], value: entry };
  await writeConfigFile(path, { text: setInJsonc(file?.text ?? "", change), follow: true });
  return name;
}

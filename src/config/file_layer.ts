import { SettingError } from "../domain/errors.ts";
import { checkConfig } from "./check_config.ts";
import { type ConfigFile, type ConfigLayer, type ProjectFile, valueAt } from "./layers.ts";
import { parseJsonc } from "./parse_jsonc.ts";
import { refusedKeys } from "./refused_keys.ts";
import { ConfigSchema } from "./schema.ts";
import { SettingsSections } from "./settings_sections.ts";

/** Settings of earlier versions. A file that has one of them still loads. */
const RETIRED = ["title", "autoForget"];

/** Reads the settings of a file. Throws `SettingError` that names the file and the key, for an invalid value and for a
 * key that a project must not set. */
export async function fileLayer(
  layer: "user" | "project",
  file: ConfigFile | ProjectFile,
  sections: SettingsSections = new SettingsSections(),
): Promise<ConfigLayer> {
  const all: unknown = parseJsonc(file);
  const retired = RETIRED.filter((key) => valueAt(all, [key]) !== undefined);
  const values = retired.length === 0
    ? all
    : Object.fromEntries(Object.entries(Object(all)).filter(([key]) => !retired.includes(key)));
  const isOwn = Object.keys(Object(values)).every((key) => key === "$schema" || Object.hasOwn(ConfigSchema.shape, key));
  const schema = isOwn ? ConfigSchema : ConfigSchema.extend(await sections.atTop());
  checkConfig(values, file.path, { schema, project: layer === "project" });
  if (layer === "project") refuseAlways(values, file.path, sections);
  if ("trusted" in file) await checkProject(values, file, sections);
  const { $schema: _forEditors, ...said } = { $schema: undefined, ...Object(values) };
  const unset = layer === "project" ? "vis config unset --project" : "vis config unset";
  const ignored = retired.map((key) =>
    `${file.path} sets ${key}, which is not a setting any more: it has no effect (${unset} ${key} removes it)`
  );
  return { layer, values: said, where: () => file.path, ignored };
}

/** Throws `SettingError` for what not even a trusted workspace may set: exceptions from the secrets, and whether commands
 * run without a question. */
export function refuseAlways(values: unknown, source: string, sections: SettingsSections): void {
  const exception = Object(values).secrets?.find((pattern: string) => pattern.startsWith("!"));
  const key = exception === undefined
    ? sections.ownKeys.find((one) => valueAt(values, sections.path(one)) !== undefined)
    : "secrets";
  if (key === undefined) return;
  throw new SettingError({
    source,
    code: "untrusted",
    project: true,
    key,
    why: exception === undefined
      ? "No workspace may set it, whether it is trusted or not"
      : `A workspace may not take ${exception.slice(1)} out of the secrets`,
    advice: "put it into the user's own config.jsonc",
  });
}

async function checkProject(
  values: unknown,
  { path, userPath, trusted }: ProjectFile,
  { projectKeys }: SettingsSections,
): Promise<void> {
  const refused = refusedKeys(values, projectKeys).map(({ key }) => key);
  const [key] = refused;
  if (key === undefined || await trusted()) return;
  const others = refused.length > 1 ? ` (nor ${refused.slice(1).join(", ")})` : "";
  const own = userPath ?? "the user's own config.jsonc";
  throw new SettingError({
    source: path,
    code: "untrusted",
    project: true,
    key,
    why: `A workspace may not set it${others}, since blocks can write this file`,
    advice: `put it into ${own}, or run vis config trust`,
  });
}

import { z } from "zod";
import { SettingError } from "../domain/errors.ts";
import { inputFault } from "../domain/input_fault.ts";
import { nearestName } from "../domain/kit/names.ts";
import { parseJsonc } from "./jsonc.ts";
import { type ConfigFile, type ConfigLayer, type ProjectFile, SettingsSections, valueAt } from "./layers.ts";
import { type Config, ConfigSchema } from "./schema.ts";
import { keysAt } from "./setting_list.ts";

/** Files that contain these settings of earlier versions still load. */
const RETIRED = ["title", "autoForget"];

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
    `${file.path} sets ${key}, which is no longer a setting: it has no effect (${unset} ${key} removes it)`
  );
  return { layer, values: said, where: () => file.path, ignored };
}

/** Throws `SettingError` for settings that even a trusted workspace must not set: exceptions from the secrets, and
 * `ownKeys`. */
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
      ? "cannot come from a workspace, even if you trust it"
      : `cannot exclude ${exception.slice(1)} in the file of a workspace`,
    advice: "move the setting to your own config.jsonc",
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
  const others = refused.length > 1 ? ` (nor can ${refused.slice(1).join(", ")})` : "";
  const own = userPath ?? "your own config.jsonc";
  throw new SettingError({
    source: path,
    code: "untrusted",
    project: true,
    key,
    why: `cannot come from an untrusted workspace${others}, because a repository can bring this file`,
    advice: `move the setting to ${own}, or run vis config trust`,
  });
}

function unknownKey(key: string, path: readonly PropertyKey[], schema: z.ZodType): string {
  const names = keysAt(path, z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  const near = nearestName(key, names);
  const hint = near === null ? `choose one of ${names.join(", ")}` : `did you mean ${near}?`;
  return names.length === 0 ? "is not a setting" : `is not a setting; ${hint}`;
}

export function checkConfig(
  values: unknown,
  source: string,
  { schema = ConfigSchema, project = false }: { readonly schema?: z.ZodType; readonly project?: boolean } = {},
): Config {
  const refused = (key: string, why: string, code: "unknown" | "value" = "value") =>
    new SettingError({ source, code, key, why, project });
  const parsed = schema.safeParse(withoutSchema(values), { error: inputFault });
  if (parsed.success) {
    const config = parsed.data as Config;
    const names = config.providers.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw refused("providers", `has two entries named ${twice}; rename one of them`);
    return config;
  }
  const issue = parsed.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const path = [...issue.path, key].join(".");
    throw refused(path, unknownKey(key, issue.path, schema), "unknown");
  }
  throw refused(issue?.path.join(".") || "the file", issue?.message ?? "is invalid");
}

function withoutSchema(values: unknown): unknown {
  if (typeof values !== "object" || values === null || Array.isArray(values)) return values;
  const { $schema: _forEditors, ...rest } = { $schema: undefined, ...values };
  return rest;
}

export function refusedKeys(values: unknown, allowed: readonly string[]): readonly Refused[] {
  return refusedBelow(values, { path: "", allowed });
}

interface Refused {
  readonly key: string;
  readonly value: unknown;
}

function refusedBelow(
  values: unknown,
  { path, allowed }: { readonly path: string; readonly allowed: readonly string[] },
): Refused[] {
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    return path === "" ? [] : [{ key: path, value: values }];
  }
  return Object.entries(values).flatMap(([key, value]) => {
    const at = path === "" ? key : `${path}.${key}`;
    if (at === "$schema" || allowed.includes(at)) return [];
    const isParent = allowed.some((one) => one.startsWith(`${at}.`));
    return isParent ? refusedBelow(value, { path: at, allowed }) : [{ key: at, value }];
  });
}

import { z } from "zod";
import { SettingError } from "../domain/errors.ts";
import { nearestName } from "../domain/kit/names.ts";
import { settingFault } from "../domain/settings.ts";
import { type Config, ConfigSchema } from "./schema.ts";

/** The parts of a setting's JSON Schema that concern names of keys. */
interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
}

/** The error for an unknown key: suggests the closest one, otherwise lists the existing keys. */
function unknownKey(key: string, path: readonly PropertyKey[], schema: z.ZodType): string {
  let node: Node | undefined = z.toJSONSchema(schema, { io: "input" }) as Node;
  for (const step of path) node = typeof step === "number" ? node?.items : node?.properties?.[String(step)];
  const names = Object.keys(node?.properties ?? {});
  const near = nearestName(key, names);
  return near === null ? `unknown setting; there are ${names.join(", ")}` : `unknown setting; did you mean ${near}?`;
}

/** Fills in defaults; throws `SettingError` that names `source` and the key. */
export function checkConfig(
  values: unknown,
  source: string,
  { schema = ConfigSchema, project = false }: { readonly schema?: z.ZodType; readonly project?: boolean } = {},
): Config {
  const refused = (key: string, why: string) => new SettingError({ source, code: "value", key, why, project });
  const parsed = schema.safeParse(withoutSchema(values), { error: settingFault });
  if (parsed.success) {
    const config = parsed.data as Config;
    const names = config.providers.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) !== at); // they could not be distinguished
    if (twice !== undefined) throw refused("providers", `two of them are named ${twice}`);
    return config;
  }
  const issue = parsed.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const path = [...issue.path, key].join(".");
    throw refused(path, unknownKey(key, issue.path, schema));
  }
  throw refused(issue?.path.join(".") || "the file", issue?.message ?? "is wrong");
}

/** `$schema` tells an editor what the file is; it is not a setting. */
function withoutSchema(values: unknown): unknown {
  if (typeof values !== "object" || values === null || Array.isArray(values)) return values;
  const { $schema: _forEditors, ...rest } = { $schema: undefined, ...values };
  return rest;
}

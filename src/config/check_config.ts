import type { z } from "zod";
import { ConfigError } from "../domain/errors.ts";
import { unknownKey } from "./_unknown_key.ts";
import { type Config, ConfigSchema } from "./schema.ts";

/** Settings with their defaults filled in; throws `ConfigError` that names `source` and the key. */
export function checkConfig(values: unknown, source: string, schema: z.ZodType = ConfigSchema): Config {
  const parsed = schema.safeParse(withoutSchema(values));
  if (parsed.success) return distinct(parsed.data as Config, source);
  const issue = parsed.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    const path = [...issue.path, key].join(".");
    throw new ConfigError(`Cannot use ${source}: ${path}: ${unknownKey(key, issue.path, schema)}`);
  }
  throw new ConfigError(
    `Cannot use ${source}: ${issue?.path.join(".") || "the file"}: ${issue?.message ?? "is wrong"}`,
  );
}

/** `$schema` tells an editor what the file is; it is no setting. */
function withoutSchema(values: unknown): unknown {
  if (typeof values !== "object" || values === null || Array.isArray(values)) return values;
  const { $schema: _forEditors, ...rest } = { $schema: undefined, ...values };
  return rest;
}

/** Two providers of one name could not be told apart. */
function distinct(config: Config, source: string): Config {
  const names = config.providers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return config;
  throw new ConfigError(`Cannot use ${source}: providers: two of them are named ${twice}`);
}

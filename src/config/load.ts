import { oneLine } from "../domain/clip.ts";
import { ConfigError } from "../domain/errors.ts";
import { DEFAULT_CONFIG } from "./defaults.ts";
import type { Config } from "./schema.ts";

/** What the environment and the flags say; undefined where they say nothing. Flags win over the environment, which
 * wins over the file. */
export interface ConfigSources {
  /** Text of `$VIS_HOME/config.jsonc`, null where there is none. */
  readonly file: { readonly path: string; readonly text: string } | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: {
    readonly model?: string | undefined;
    readonly provider?: string | undefined;
    readonly maxIterations?: number | undefined;
  };
}

/** Settings and the key, which is no setting: it is never printed, stored or logged. */
export interface LoadedConfig {
  readonly config: Config;
  readonly apiKey: string | null;
  /** A variable of the environment, where keys have their usual names; null where it is empty or not set. */
  readonly variable: (name: string) => string | null;
}

/** Joins the layers and checks the result; throws `ConfigError` that names the key and the layer. */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const { file, env, flags } = sources;
  const base = file ? await readFile(file) : DEFAULT_CONFIG;
  const config: Config = {
    ...base,
    model: nonEmpty(flags.model) ?? nonEmpty(env["VIS_MODEL"]) ?? base.model,
    provider: nonEmpty(flags.provider) ?? nonEmpty(env["VIS_PROVIDER"]) ?? base.provider,
    baseUrl: baseUrl(nonEmpty(env["VIS_BASE_URL"])) ?? base.baseUrl,
    budget: { ...base.budget, iterations: flags.maxIterations ?? base.budget.iterations },
  };
  const variable = (name: string): string | null => nonEmpty(env[name]) ?? null;
  return { config, apiKey: variable("VIS_API_KEY") ?? variable("OPENAI_API_KEY"), variable };
}

/** The schema is loaded only for a file: it costs a start 20 ms. */
async function readFile(file: { readonly path: string; readonly text: string }): Promise<Config> {
  const { ConfigSchema } = await import("./schema.ts");
  const parsed = ConfigSchema.safeParse(parseFile(file));
  if (parsed.success) return distinct(parsed.data, file.path);
  const issue = parsed.error.issues[0];
  if (issue?.code === "unrecognized_keys") {
    const { unknownKey } = await import("./_unknown_key.ts");
    const key = issue.keys[0] ?? "";
    const path = [...issue.path, key].join(".");
    throw new ConfigError(`Cannot use ${file.path}: ${path}: ${unknownKey(key, issue.path)}`);
  }
  throw new ConfigError(
    `Cannot use ${file.path}: ${issue?.path.join(".") || "the file"}: ${issue?.message ?? "is wrong"}`,
  );
}

/** Two providers of one name could not be told apart. */
function distinct(config: Config, path: string): Config {
  const names = config.providers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return config;
  throw new ConfigError(`Cannot use ${path}: providers: two of them are named ${twice}`);
}

function nonEmpty(text: string | undefined): string | undefined {
  return text?.trim() ? text.trim() : undefined;
}

function baseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new ConfigError(`Cannot use VIS_BASE_URL: ${text} is not an http or https URL (http://127.0.0.1:8080/v1)`);
}

function parseFile(file: { readonly path: string; readonly text: string }): unknown {
  try {
    return JSON.parse(stripComments(file.text.replace(/^\ufeff/, "")));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`Cannot read ${file.path}: ${oneLine(why, 300)}`);
  }
}

/** Blanks out comments and trailing commas outside strings, so that positions in errors stay right. */
function stripComments(text: string): string {
  const blank = (found: string): string => found.replace(/[^\n]/g, " ");
  return text
    .replace(/"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (found) => found[0] === '"' ? found : blank(found))
    .replace(/"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g, (found) => found[0] === '"' ? found : " ");
}

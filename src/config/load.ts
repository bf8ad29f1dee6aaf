import { ConfigError } from "../domain/errors.ts";
import { withoutLogin } from "../domain/kit/addresses.ts";
import { DEFAULT_CONFIG, VARIABLES } from "./defaults.ts";
import { type ConfigFile, type ConfigLayer, type ProjectFile, SettingsSections } from "./layers.ts";
import type { Config } from "./schema.ts";

export interface ConfigSources {
  readonly file: ConfigFile | null;
  readonly project?: ProjectFile | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ConfigFlags;
  readonly sections?: SettingsSections | undefined;
}

export interface ConfigFlags {
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly maxIterations?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  readonly timeoutMs?: number | undefined;
  readonly noExtension?: readonly string[] | undefined;
  readonly addDir?: readonly string[] | undefined;
  readonly set?: ConfigLayer | undefined;
}

/** Vis may print the settings, so the API key is separate. */
export interface LoadedConfig {
  readonly config: Config;
  readonly layers: readonly ConfigLayer[];
  readonly sections: SettingsSections;
  readonly apiKey: string | null;
  /** Null means that the variable is empty or not set. */
  readonly variable: (name: string) => string | null;
}

export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const { env, flags, sections = new SettingsSections() } = sources;
  const variable = (name: string): string | null => nonEmpty(env[name]) ?? null;
  const layers = [
    { layer: "default", values: DEFAULT_CONFIG, where: () => "" } as const,
    ...await fileLayers(sources),
    environmentLayer(variable),
    ...flags.set === undefined ? [] : [flags.set],
    flagsLayer(flags),
  ];
  // Vis checks flags and variables when it reads them, so a start without files and `--set` skips the schema.
  const config = layers.length === 3
    ? sections.merged(layers) as Config
    : (await import("./file_layer.ts")).checkConfig(sections.merged(layers), "the settings");
  return { config, layers, sections, apiKey: variable("VIS_API_KEY") ?? variable("OPENAI_API_KEY"), variable };
}

async function fileLayers({ file, project = null, sections }: ConfigSources): Promise<readonly ConfigLayer[]> {
  if (file === null && project === null) return [];
  const { fileLayer } = await import("./file_layer.ts");
  return [
    ...file === null ? [] : [await fileLayer("user", file, sections)],
    ...project === null ? [] : [await fileLayer("project", project, sections)],
  ];
}

function environmentLayer(variable: (name: string) => string | null): ConfigLayer {
  const said = Object.entries(VARIABLES).flatMap(([key, name]) => {
    const text = variable(name);
    return text === null ? [] : [[key, key === "baseUrl" ? httpUrl(text) : text]];
  });
  return { layer: "environment", values: Object.fromEntries(said), where: (key) => VARIABLES[key] ?? "" };
}

function flagsLayer(flags: ConfigFlags): ConfigLayer {
  const { maxIterations, maxCostUsd, timeoutMs, noExtension = [], addDir = [] } = flags;
  const model = nonEmpty(flags.model), provider = nonEmpty(flags.provider);
  const budget = {
    ...maxIterations === undefined ? {} : { iterations: maxIterations },
    ...maxCostUsd === undefined ? {} : { costUsd: maxCostUsd },
    ...timeoutMs === undefined ? {} : { wallMs: timeoutMs },
  };
  const values = {
    ...model === undefined ? {} : { model },
    ...provider === undefined ? {} : { provider },
    ...Object.keys(budget).length === 0 ? {} : { budget },
    ...noExtension.length === 0 ? {} : { extensions: { deny: noExtension } },
    ...addDir.length === 0 ? {} : { readFolders: addDir },
  };
  return { layer: "flags", values, where: (key) => FLAGS[key] ?? "" };
}

const FLAGS: Readonly<Record<string, string>> = {
  model: "--model",
  provider: "--provider",
  "budget.iterations": "--max-iterations",
  "budget.costUsd": "--max-cost",
  "budget.wallMs": "--timeout",
  "extensions.deny": "--no-extension",
  readFolders: "--add-dir",
};

function nonEmpty(text: string | undefined): string | undefined {
  return text?.trim() ? text.trim() : undefined;
}

function httpUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw new ConfigError(
    `Cannot use VIS_BASE_URL: ${
      withoutLogin(text)
    } is not an http or https URL; write one such as http://127.0.0.1:8080/v1`,
  );
}

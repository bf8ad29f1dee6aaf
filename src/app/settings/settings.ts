import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { OpenRequest } from "../../channels/channel.ts";
import type { ConfigFile, ProjectFile } from "../../config/layers.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { ConfigError, fileFault, UsageError } from "../../domain/errors.ts";
import { plainTextFile } from "../../domain/kit/files.ts";
import { type ChosenDatabase, databaseOf } from "./database_of.ts";
import { settingsSectionsOf } from "./settings_sections_of.ts";
import type { ShippedParts } from "./shipped_parts.ts";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Locations and settings, from flags, environment and files. */
export interface Settings extends LoadedConfig, ChosenDatabase {
  /** Null if the machine has no home folder: then the database must be named. */
  readonly home: string | null;
  /** Real path. */
  readonly workspace: string;
  /** Whose state extensions see; the default one's if omitted. */
  readonly tenant?: string;
  /** The locked profile, if it was requested. */
  readonly locked?: OpenRequest["locked"];
}

/** Throws `ConfigError` for invalid settings and `UsageError` for a workspace that cannot be used. */
export async function readSettings(
  request: OpenRequest,
  env: EnvironmentVariables,
  parts: Pick<ShippedParts, "described" | "settings">,
): Promise<Settings> {
  const home = visHome(env);
  const workspace = await realFolder(request.cwd ?? Deno.cwd());
  const [file, project] = await Promise.all([
    home === null ? null : readConfigFile(join(home, "config.jsonc")),
    request.locked ? null : findProjectConfig({ home, workspace }),
  ]);
  const loaded = await loadConfig({ file, project, env, flags: request, sections: settingsSectionsOf(parts) });
  const database = await databaseOf({ flag: request.db, setting: loaded.config.database, env, home });
  const settings = { ...loaded, ...database, home, workspace, locked: request.locked };
  return request.locked ? (await import("./lock_settings.ts")).lockSettings(settings, parts) : settings;
}

/** `$VIS_HOME`, or its default. What Windows calls roaming is copied over the network, a database that is in use
 * included, so it is used only if Vis was there before. */
export function visHome(
  env: EnvironmentVariables,
  os: typeof Deno.build.os = Deno.build.os,
  exists: (path: string) => boolean = existsSync,
): string | null {
  if (env["VIS_HOME"]) return resolve(env["VIS_HOME"]);
  const [local, roaming] = ["LOCALAPPDATA", "APPDATA"].map((name) => os === "windows" ? env[name] : undefined);
  if (roaming && (!local || exists(join(roaming, "vis")))) return join(roaming, "vis");
  if (local) return join(local, "vis");
  const home = env["HOME"] ?? env["USERPROFILE"];
  return home ? join(home, ".vis") : null;
}

/** Null if there is none, or nothing in it. */
export async function readConfigFile(path: string): Promise<ConfigFile | null> {
  try {
    const text = await plainTextFile(path);
    return text.trim() === "" ? null : { path, text };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw new ConfigError(`Cannot read ${path}: ${fileFault(error)}`, {
      code: "access",
      advice: "make it a file that Vis may read",
      cause: error,
    });
  }
}

/** Null if there is none, and if the workspace is the folder that contains the home. */
export async function findProjectConfig(
  { home, workspace }: Pick<Settings, "home" | "workspace">,
): Promise<ProjectFile | null> {
  const folder = join(workspace, ".vis");
  if (folder === home || home !== null && folder === await Deno.realPath(home).catch(() => home)) return null;
  const file = await readConfigFile(join(folder, "config.jsonc"));
  if (file === null) return null;
  const trusted = async (): Promise<boolean> => {
    const { ConfigTrust } = await import("./config_trust.ts");
    return await new ConfigTrust(home).has(file);
  };
  return { ...file, trusted, userPath: home === null ? null : join(home, "config.jsonc") };
}

/** Throws `UsageError` if the path is not a folder. */
export async function realFolder(path: string): Promise<string> {
  try {
    const real = await Deno.realPath(path);
    if ((await Deno.stat(real)).isDirectory) return real;
  } catch {
    throw new UsageError(`Cannot use workspace: ${path} does not exist`);
  }
  throw new UsageError(`Cannot use workspace: ${path} is not a folder`);
}

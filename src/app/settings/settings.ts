import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { OpenRequest } from "../../channels/channel.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { SettingsSections } from "../../config/settings_sections.ts";
import { ConfigError, messageOf, UsageError } from "../../domain/errors.ts";
import { isPostgres } from "../../domain/kit/addresses.ts";
import type { DescribedIndex, LiveIndex, SettingsIndex } from "../../extension/lazy_registry.ts";
import type { RealmIndex, ShippedIndex } from "../../extension/loader.ts";
import { findProjectConfig, readConfigFile } from "./config_file.ts";

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

/** Where the database is. */
interface ChosenDatabase {
  /** A file, ":memory:", or the URL of a PostgreSQL database without its password. */
  readonly database: string;
  /** The password of a PostgreSQL database. It is never printed, stored or logged. */
  readonly databasePassword?: string;
}

/** The shipped extensions as main.ts passes them. */
export interface ShippedParts {
  readonly shipped: ShippedIndex;
  /** Extensions without a description delay a query. */
  readonly described: DescribedIndex;
  readonly live?: LiveIndex;
  readonly settings?: SettingsIndex;
  readonly realm?: RealmIndex;
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
  return request.locked ? lockSettings(settings, parts) : settings;
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

/** Chooses the database: the flag comes before the environment, and that before the settings. Throws `ConfigError`. */
export async function databaseOf({ flag, setting, env, home }: {
  readonly flag: string | undefined;
  readonly setting: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
}): Promise<ChosenDatabase> {
  const told = flag || env["VIS_DATABASE_URL"] || env["VIS_DB"] || setting;
  if (!told) {
    if (home !== null) return { database: join(home, "vis.db") };
    throw new ConfigError("Cannot find a home folder: set VIS_HOME to a folder that Vis may write");
  }
  if (told === ":memory:") return { database: told };
  if (!isPostgres(told)) return { database: resolve(told) };
  const [, before = "", inUrl, after = ""] = /^(postgres(?:ql)?:\/\/[^:@/?]*)(?::([^@/?]*))?(.*)$/.exec(told) ?? [];
  const password = env["VIS_DATABASE_PASSWORD"] || await passwordIn(env["VIS_DATABASE_PASSWORD_FILE"]) ||
    (inUrl === undefined ? undefined : decodeURIComponent(inUrl));
  return { database: `${before}${after}`, ...(password ? { databasePassword: password } : {}) };
}

async function passwordIn(path: string | undefined): Promise<string> {
  if (!path) return "";
  try {
    return (await Deno.readTextFile(path)).trimEnd();
  } catch (error) {
    throw new ConfigError(`Cannot read the password of the database from ${path}: ${messageOf(error)}`, {
      code: "access",
    });
  }
}

/** The quota of tokens without their own, so that every token has a limit. */
const QUOTA = { queriesPerDay: 1_000, costUsdPerDay: 20, concurrent: 4 } as const;

/** The settings of the locked profile: every wall is required, and only listed extensions are loaded, without those
 * that must be switched on. Nobody is asked for more. No setting can undo this. */
export function lockSettings<S extends Pick<Settings, "config">>(
  settings: S,
  { described }: Pick<ShippedParts, "described">,
): S {
  const { config } = settings;
  const off = Object.entries(described).flatMap(([name, one]) =>
    one?.onByDefault !== undefined ? [name, one.namespace] : []
  );
  const { quota } = config.server;
  return {
    ...settings,
    config: {
      ...config,
      approvals: "never",
      sandbox: { ...config.sandbox, require: ["realm", "permissions", "process", "kernel"] },
      extensions: {
        ...config.extensions,
        allow: (config.extensions.allow ?? []).filter((name) => !off.includes(name)),
      },
      server: {
        ...config.server,
        quota: {
          queriesPerDay: quota.queriesPerDay ?? QUOTA.queriesPerDay,
          costUsdPerDay: quota.costUsdPerDay ?? QUOTA.costUsdPerDay,
          concurrent: quota.concurrent ?? QUOTA.concurrent,
        },
      },
    },
  };
}

/** The sections of the configuration that shipped extensions own. */
export function settingsSectionsOf(
  { described, settings = {} }: Pick<ShippedParts, "described" | "settings">,
): SettingsSections {
  return new SettingsSections(
    Object.entries(settings).flatMap(([name, load]) => {
      const one = described[name];
      if (!one?.settings) return [];
      const { section = null, project, programs } = one.settings;
      const own = programs.unwalled === undefined ? [] : [programs.unwalled];
      return [{ namespace: one.namespace, name: section, project, own, schema: async () => (await load()).default }];
    }),
  );
}

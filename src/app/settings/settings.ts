import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { OpenRequest } from "../../channels/channel.ts";
import { settingsSectionsOf, shippedExtensions, type ShippedParts } from "../extensions/shipped.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { ConfigError, messageOf, UsageError } from "../../domain/errors.ts";
import { isPostgres } from "../../domain/kit/addresses.ts";
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

/** Throws `ConfigError` for invalid settings and `UsageError` for a workspace that cannot be used. */
export async function readSettings(
  request: OpenRequest,
  env: EnvironmentVariables,
  parts: Pick<ShippedParts, "shipped">,
): Promise<Settings> {
  const home = visHome(env);
  const workspace = await realFolder(request.cwd ?? Deno.cwd());
  const [file, project] = await Promise.all([
    home === null ? null : readConfigFile(join(home, "config.jsonc")),
    request.locked ? null : findProjectConfig({ home, workspace }),
  ]);
  // Only files have sections.
  const sections = file === null && project === null ? undefined : await settingsSectionsOf(parts);
  const loaded = await loadConfig({ file, project, env, flags: request, sections });
  const database = await databaseOf({ flag: request.db, setting: loaded.config.database, env, home });
  const settings = { ...loaded, ...database, home, workspace, locked: request.locked };
  return request.locked ? await lockSettings(settings, parts) : settings;
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
export async function lockSettings<S extends Pick<Settings, "config">>(
  settings: S,
  parts: Pick<ShippedParts, "shipped">,
): Promise<S> {
  const { config } = settings;
  const off = [...await shippedExtensions(parts)].flatMap(([name, { namespace, onByDefault }]) =>
    onByDefault !== undefined ? [name, namespace] : []
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

import { existsSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import type { OpenRequest } from "../../channels/channel.ts";
import { SettingsSections, valueAt } from "../../config/layers.ts";
import { loadConfig, type LoadedConfig } from "../../config/load.ts";
import { ConfigError, fileFault, UsageError, WorkspaceError } from "../../domain/errors.ts";
import { isPostgres, percentDecoded } from "../../domain/kit/addresses.ts";
import { isWithin } from "../../domain/kit/files.ts";
import type { SettingsSection } from "../../domain/settings_section.ts";
import type { EnvironmentParts } from "../../environment/environment_parts.ts";
import type { RealmIndex, ShippedIndex } from "../../extension/loader.ts";
import type { UnwalledMode } from "../../extension/spawn_types.ts";
import type { Extension } from "../../extension/spec.ts";
import type { AskedPrograms } from "../../processes/approved/approved_programs.ts";
import { Credentials } from "../../providers/credentials.ts";
import { findProjectConfig, readConfigFile } from "./settings_files.ts";
import { lstatSync, realpathSync } from "node:fs";

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface Settings extends LoadedConfig, ChosenDatabase, AddedFolders {
  /** Null means that the environment names no home folder, so the user must name the database. */
  readonly home: string | null;
  readonly workspace: string;
  readonly tenant?: string;
  readonly locked?: OpenRequest["locked"];
  /** The locked profile removes these names from `extensions.allow`. */
  readonly neverLocked?: readonly string[];
}

interface AddedFolders {
  /** Each path is a real path. */
  readonly readFolders: readonly string[];
  readonly folderNotes: readonly string[];
}

interface ChosenDatabase {
  readonly database: string;
  readonly databasePassword?: string;
}

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
  const flags = { ...request, addDir: request.addDir?.map((path) => resolve(path)) };
  const load = (sections?: SettingsSections) => loadConfig({ file, project, env, flags, sections });
  const loadAll = async () => await load(await settingsSectionsOf(parts));
  // A file that passes without sections has the same meaning with sections, so a start with `lazyExtensions` loads
  // sections only after a fault.
  const loaded = project !== null || request.set !== undefined || file !== null && !request.lazyExtensions
    ? await loadAll()
    : await load().catch(loadAll);
  const ofRun = valueAt(request.set?.values, ["database"]);
  const flag = request.db || (typeof ofRun === "string" ? ofRun : undefined);
  const database = await databaseOf({ flag, setting: loaded.config.database, env, home });
  const added = request.locked ? NO_FOLDERS : addedFolders(loaded.config.readFolders, { flags, env, home });
  const ofServed = request.locked ? [] : await secretsOf(request.serves ?? [], home);
  const config = { ...loaded.config, secrets: [...new Set([...loaded.config.secrets, ...ofServed])] };
  const settings = { ...loaded, config, ...database, ...added, home, workspace, locked: request.locked };
  return request.locked ? await lockSettings(settings, parts) : settings;
}

/** A server applies only the settings file of its own workspace, but protects the secrets of each workspace. */
async function secretsOf(workspaces: readonly string[], home: string | null): Promise<readonly string[]> {
  const found: string[] = [];
  for (const workspace of workspaces) {
    const file = await findProjectConfig({ home, workspace });
    if (file === null) continue;
    const [{ parseJsonc }, { checkConfig }] = await Promise.all([
      import("../../config/jsonc.ts"),
      import("../../config/file_layer.ts"),
    ]);
    const secrets = valueAt(parseJsonc(file), ["secrets"]) ?? [];
    found.push(...checkConfig({ secrets }, file.path, { project: true }).secrets);
  }
  return found.filter((pattern) => !pattern.startsWith("!"));
}

const NO_FOLDERS: AddedFolders = { readFolders: [], folderNotes: [] };

/** Throws `UsageError` if Vis cannot use a folder of an option. Another unusable folder only gets a note, because a
 * folder can be absent for a while. */
function addedFolders(
  paths: readonly string[],
  { flags: { addDir = [] }, env, home }: {
    readonly flags: Pick<OpenRequest, "addDir">;
    readonly env: EnvironmentVariables;
    readonly home: string | null;
  },
): AddedFolders {
  const own = [env["HOME"] ?? env["USERPROFILE"] ?? null, home], notes: string[] = [];
  const found = paths.flatMap((path) => {
    const real = realPathOf(path), fault = folderFault(real, own);
    if (fault === "") return [real];
    if (addDir.includes(path)) throw new UsageError(`Cannot use --add-dir ${path}: ${fault}; name another folder`);
    notes.push(`Cannot read ${path} of the setting readFolders: ${fault}; correct the setting`);
    return [];
  });
  return { readFolders: [...new Set(found)], folderNotes: notes };
}

function folderFault(path: string, [user, home]: readonly (string | null)[]): string {
  if (factsOf(path)?.isDirectory() !== true) return "there is no such folder";
  for (const [folder, name] of [[user, "your home folder"], [home, "the folder of Vis"]] as const) {
    const real = folder ? realPathOf(folder) : "";
    if (real !== "" && isWithin(real, path)) return `it is or contains ${name}`;
  }
  return home && isWithin(path, realPathOf(home)) ? "it is in the folder of Vis" : "";
}

/** The patterns include a database file outside Vis's own folder. If Vis's own folder is in the workspace, the patterns
 * also include Vis's keys, tokens and databases. The user's exceptions follow, and so decide. */
export function secretsIn(
  { config, home, database }: Pick<Settings, "config" | "home" | "database">,
  workspace: string,
): readonly string[] {
  const real = home === null ? "" : realPathOf(home);
  const file = databaseFile({ database });
  const chosen = file === null || home !== null && isWithin(file, real) ? [] : [basename(file), `${basename(file)}-*`];
  if (!isWithin(real, workspace)) return [...chosen, ...config.secrets];
  const below = relative(workspace, real).replaceAll("\\", "/");
  const own = ["auth.json", "*token*", "*.db*"].map((name) => below === "" ? name : `${below}/${name}`);
  return [...own, ...chosen, ...config.secrets];
}

export function databaseFile({ database }: Pick<Settings, "database">): string | null {
  return database === ":memory:" || isPostgres(database) ? null : realPathOf(database);
}

function realPathOf(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

/** Windows copies the roaming folder over the network, even a database in use, so Vis prefers the local folder. An
 * existing `vis` in the roaming folder stays in use. */
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

export function rootOf(
  { workspace, home }: Pick<Settings, "workspace" | "home">,
  env: EnvironmentVariables,
): string | null {
  return repositoryRoot(workspace, { closed: [env["HOME"] ?? env["USERPROFILE"] ?? null, home] });
}

export async function realFolder(path: string): Promise<string> {
  try {
    const real = await Deno.realPath(path);
    if ((await Deno.stat(real)).isDirectory) return real;
  } catch (error) {
    throw new WorkspaceError(path, fileFault(error));
  }
  throw new WorkspaceError(path, "it is not a folder");
}

export async function databaseOf({ flag, setting, env, home }: {
  readonly flag: string | undefined;
  readonly setting: string | null;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string | null;
}): Promise<ChosenDatabase> {
  const told = flag || env["VIS_DATABASE_URL"] || env["VIS_DB"] || setting;
  if (!told) {
    if (home !== null) return { database: join(home, "vis.db") };
    throw new ConfigError(
      "Cannot choose a database: Vis has no home folder; set VIS_HOME to a writable folder, or use --db",
    );
  }
  if (told === ":memory:") return { database: told };
  if (!isPostgres(told)) {
    const [scheme] = /^[a-z][a-z\d+.-]*:\/\//i.exec(told) ?? [];
    if (scheme === undefined) return { database: resolve(told) };
    throw new ConfigError(
      `Cannot use database ${scheme}…: Vis uses files and PostgreSQL; write a path, or postgres://user@host:5432/name`,
    );
  }
  const [, before = told, inUrl, after = ""] = /^(postgres(?:ql)?:\/\/[^:@/?]*):([^/?]*)(@.*)$/.exec(told) ?? [];
  const password = env["VIS_DATABASE_PASSWORD"] || await passwordIn(env["VIS_DATABASE_PASSWORD_FILE"]) ||
    (inUrl === undefined ? undefined : percentDecoded(inUrl));
  return { database: `${before}${after}`, ...(password ? { databasePassword: password } : {}) };
}

async function passwordIn(path: string | undefined): Promise<string> {
  if (!path) return "";
  try {
    return (await Deno.readTextFile(path)).trimEnd();
  } catch (error) {
    throw new ConfigError(
      `Cannot read the password of the database from ${path}: ${fileFault(error)}; correct VIS_DATABASE_PASSWORD_FILE`,
    );
  }
}

const QUOTA = { queriesPerDay: 1_000, costUsdPerDay: 20, concurrent: 4 } as const;

export async function lockSettings<S extends Pick<Settings, "config">>(
  settings: S,
  parts: Pick<ShippedParts, "shipped">,
): Promise<S & Pick<Settings, "neverLocked">> {
  const { config } = settings;
  const off = [...await shippedExtensions(parts)].flatMap(([name, { namespace, onByDefault }]) =>
    onByDefault !== undefined ? [name, namespace] : []
  );
  const { quota } = config.server;
  const allow = config.extensions.allow ?? [];
  return {
    ...settings,
    neverLocked: allow.filter((name) => off.includes(name)),
    config: {
      ...config,
      approvals: "never",
      sandbox: { ...config.sandbox, require: ["realm", "permissions", "process", "kernel"] },
      extensions: {
        ...config.extensions,
        allow: allow.filter((name) => !off.includes(name)),
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

export interface ShippedParts {
  readonly shipped: ShippedIndex;
  readonly realm?: RealmIndex;
}

export async function shippedExtensions(
  { shipped }: Pick<ShippedParts, "shipped">,
): Promise<ReadonlyMap<string, Extension>> {
  const found = await Promise.all(
    Object.entries(shipped).map(async ([name, load]) => {
      const extension = await load().then((module) => module.default, () => null);
      return extension ? [[name, extension] as const] : [];
    }),
  );
  return new Map(found.flat());
}

export async function settingsSectionsOf(parts: Pick<ShippedParts, "shipped">): Promise<SettingsSections> {
  const { settingMarks } = await import("../../extension/read_config.ts");
  const sections: SettingsSection[] = [];
  for (const { namespace, section: name = null, config } of (await shippedExtensions(parts)).values()) {
    if (!config) continue;
    const marks = settingMarks(config).map(({ name, value, path: [key = ""] }) => ({
      name,
      value: String(value),
      key,
    }));
    const byValue = (mark: string): Record<string, string> =>
      Object.fromEntries(marks.filter(({ name }) => name === mark).map(({ value, key }) => [value, key]));
    const programs: SettingsSection["programs"] = byValue("programs");
    sections.push({
      namespace,
      name,
      project: marks.filter(({ name }) => name === "project").map(({ key }) => key),
      own: programs.unwalled === undefined ? [] : [programs.unwalled],
      programs,
      offered: byValue("offered"),
      schema: () => Promise.resolve(config),
    });
  }
  return new SettingsSections(sections);
}

export function programSettings(
  { config, sections }: Pick<Settings, "config" | "sections">,
  { mode }: { readonly mode?: UnwalledMode | undefined } = {},
): { readonly network: boolean; readonly unwalled: UnwalledMode } {
  const said = (kind: "network" | "unwalled"): readonly unknown[] =>
    sections.all.flatMap(({ namespace, programs: { [kind]: key } }) =>
      key === undefined ? [] : [Object(config.extensions.config[namespace])[key]]
    );
  const unwalled = config.sandbox.require.includes("kernel")
    ? "off"
    : mode ?? (["off", "run"] as const).find((one) => said("unwalled").includes(one)) ?? "ask";
  return { network: said("network").includes(true), unwalled };
}

export function programsOf(
  settings: Pick<Settings, "config" | "sections" | "home" | "database" | "readFolders">,
  { env, shipped, mode }: Pick<ShippedParts, "shipped"> & {
    readonly env: EnvironmentVariables;
    readonly mode?: UnwalledMode | undefined;
  },
): Required<Pick<EnvironmentParts, "spawn" | "programWalls" | "networkScopes">> {
  const load = async (): Promise<AskedPrograms> => {
    const { AskedPrograms, programWall } = await import("../../processes/approved/approved_programs.ts");
    const { config, home: visHome, readFolders: read } = settings;
    const { network, unwalled } = programSettings(settings, { mode });
    const database = databaseFile(settings), home = env["HOME"] || null;
    const wall = programWall({ home, visHome, read, network, secrets: config.secrets, database, env });
    const known = new Set([...(await shippedExtensions({ shipped })).values()].map(({ namespace }) => namespace));
    return new AskedPrograms({ wall, mode: unwalled, env, visHome, vouches: (extension) => known.has(extension) });
  };
  let loaded: Promise<AskedPrograms> | null = null;
  const programs = () => loaded ??= load();
  return {
    spawn: async (workspace, argv, options, caller) => await (await programs()).spawn(workspace, argv, options, caller),
    programWalls: async (paths) => await (await programs()).walls(paths),
    networkScopes: async (workspace, argv, options) => await (await programs()).networkScopes(workspace, argv, options),
  };
}

/** `${GITHUB_TOKEN}` refers to the environment, and `${auth:github}` to the keys that `vis auth login` saves. */
const REFERENCE = /\$\{(auth:)?([\w.-]+)\}/g;

export async function settingSecrets(
  values: unknown,
  { home, variable = () => null }: Pick<Settings, "home"> & Partial<Pick<Settings, "variable">>,
): Promise<((text: string) => string) | undefined> {
  if (!(JSON.stringify(values) ?? "").includes("${")) return undefined;
  const keys = home !== null && authReferences(values).size > 0 ? await new Credentials(`${home}/auth.json`).all() : {};
  const keyOf = (name: string): string | undefined => {
    const found = Object.hasOwn(keys, name) ? keys[name] : undefined;
    return found?.type === "key" ? found.key : found?.githubToken;
  };
  return (given) => given.replace(REFERENCE, (whole, auth, name) => (auth ? keyOf(name) : variable(name)) ?? whole);
}

export function authReferences(settings: unknown): ReadonlySet<string> {
  const text = JSON.stringify(settings) ?? "";
  return new Set([...text.matchAll(/\$\{auth:([\w.-]+)\}/g)].map(([, name = ""]) => name));
}

const BY_ANYONE = 0o002;

/** `folder` must be a real path. A `.git` in a parent opens this parent to the model. The search therefore stops at
 * closed folders, other file systems and folders that other users control. */
export function repositoryRoot(
  folder: string,
  { closed, user = Deno.build.os === "windows" ? null : Deno.uid() }: {
    readonly closed: readonly (string | null)[];
    readonly user?: number | null;
  },
): string | null {
  const start = factsOf(folder), kept = closed.flatMap(realPaths);
  if (start === null) return null;
  // In a container, for example, root may work in the folder of a user.
  const owners = user === 0 ? [0, start.uid] : [user];
  const isOwn = (facts: NonNullable<ReturnType<typeof factsOf>>): boolean =>
    user === null || owners.includes(facts.uid) && (facts.mode & BY_ANYONE) === 0;
  for (let at = folder;; at = dirname(at)) {
    const facts = factsOf(at);
    if (facts === null || facts.dev !== start.dev) return null;
    const isAbove = at !== folder;
    if (isAbove && (!isOwn(facts) || kept.some((one) => isWithin(one, at) || isSettings(at, one)))) return null;
    const git = factsOf(join(at, ".git"));
    const isTop = git?.isFile() || git?.isDirectory() && factsOf(join(at, ".git/HEAD")) !== null;
    if (git && isTop) return isAbove && !isOwn(git) ? null : at;
    if (at === dirname(at)) return null;
  }
}

function isSettings(path: string, home: string): boolean {
  return dirname(path) === home && basename(path).startsWith(".");
}

function factsOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function realPaths(path: string | null): readonly string[] {
  if (path === null) return [];
  try {
    return [path, realpathSync(path)];
  } catch {
    return [path];
  }
}

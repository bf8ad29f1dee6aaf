import { isAbsolute, join, relative, resolve } from "node:path";
import { ConfigError, messageOf, SettingError, UsageError } from "../../domain/errors.ts";
import { nearestName } from "../../domain/kit/names.ts";
import type { ExtensionSource, OffPart } from "../../extension/active.ts";
import { discoverFolders, type FoundFolder, isWanted } from "../../extension/discover.ts";
import { type ExtensionDescription, LazyRegistry } from "../../extension/lazy_registry.ts";
import type { LoadFolderOptions, LoadOptions, LoadReport, ShippedIndex } from "../../extension/loader.ts";
import type { SettingSources } from "../../extension/read_config.ts";
import type { ExtensionRegistry } from "../../extension/registry.ts";
import type { Extension } from "../../extension/spec.ts";
import { createLog } from "../../logging/log.ts";
import { settingSecrets } from "../settings/secret_references.ts";
import type { Settings, ShippedParts } from "../settings/settings.ts";

/** About when the first request of a query is sent; what is loaded later does not delay it. */
const AFTER_START_MS = 40;

type Wanted = Pick<Settings, "config" | "home" | "workspace"> & Partial<Pick<Settings, "locked" | "variable">> & {
  /** The folder that extensions see as Vis's own, if it differs from the real one. */
  readonly extensionHome?: string | null | undefined;
  readonly offered?: SettingSources["offered"];
};

interface SourceOptions {
  readonly paths?: readonly string[];
  /** Calls `work` once the first request is on its way. */
  readonly soon?: (work: () => void) => void;
}

/** If every extension has a description, none is loaded before the first request is on its way. Throws `ConfigError`
 * for a folder of `paths` that cannot be loaded; other faulty ones are left out, with the reason in `notes`. */
export async function extensionSource(
  settings: Wanted,
  parts: ShippedParts,
  { paths = [], soon = (work) => void setTimeout(work, AFTER_START_MS) }: SourceOptions = {},
): Promise<{ readonly source: ExtensionSource; readonly notes: readonly string[] }> {
  const found = await discoverFolders({ ...settings, paths });
  const folders = settings.locked ? found.filter(({ place }) => place !== "project") : found;
  const described = describedOf(settings, parts);
  const withOff = (source: ExtensionSource) =>
    settings.locked ? source : withOffParts(source, { config: settings.config, described: parts.described });
  if (folders.length > 0 || described === null) {
    const { registry, skipped } = await buildRegistry(settings, parts, { folders });
    const named = skipped.find(({ folder }) => folder?.place === "path");
    if (named) {
      const advice = "vis extensions new creates one, vis extensions check tests one";
      throw new ConfigError(named.reason, { advice });
    }
    return { source: withOff(registry), notes: skipped.filter(({ folder }) => folder).map(({ reason }) => reason) };
  }
  const { real, notes } = await loadConfigured(described, { settings, parts });
  const source = new LazyRegistry({
    described: described.filter(([, { namespace }]) => real[namespace] !== null).map(([name, one]) => {
      const modules = parts.realm?.[name];
      return modules ? { ...one, modules } : one;
    }),
    live: Object.fromEntries(described.flatMap(([name, { namespace }]) => {
      const live = parts.live?.[name];
      return live ? [[namespace, live]] : [];
    })),
    real: Object.fromEntries(Object.entries(real).flatMap(([name, one]) => one ? [[name, one]] : [])),
    load: async () => (await buildRegistry(settings, parts, { folders })).registry,
    soon,
    log: createLog("extension"),
    home: homeOf(settings),
  });
  return { source: withOff(source), notes };
}

/** Loads those that have settings, since their contribution to a query may depend on them. Null for one that cannot use
 * its settings. */
async function loadConfigured(
  described: readonly (readonly [string, ExtensionDescription])[],
  { settings, parts }: { readonly settings: Wanted; readonly parts: ShippedParts },
): Promise<{ readonly real: Readonly<Record<string, ExtensionRegistry | null>>; readonly notes: readonly string[] }> {
  const configured = described.filter(([, one]) => isConfigured(one, settings));
  const found = await Promise.all(configured.map(async ([name, { namespace }]) => {
    const only = Object.fromEntries(Object.entries(parts.shipped).filter(([one]) => one === name));
    const { registry, loaded, skipped } = await buildRegistry(settings, { ...parts, shipped: only }, { folders: [] });
    return { namespace, real: loaded.length > 0 ? registry : null, notes: skipped.map(({ reason }) => reason) };
  }));
  return {
    real: Object.fromEntries(found.map(({ namespace, real }) => [namespace, real])),
    notes: found.flatMap(({ notes }) => notes),
  };
}

/** Null if a description is incomplete: for a partly loaded extension it would mention what is left out. */
function describedOf(settings: Wanted, { shipped, described }: ShippedParts) {
  const { config: { extensions }, locked } = settings;
  if (locked) return null;
  const found = [];
  for (const name of Object.keys(shipped)) {
    const one = described[name];
    if (!one) return null;
    if (isWanted(name, one, extensions)) found.push([name, one] as const);
  }
  const plain = found.filter(([, one]) => !isConfigured(one, settings)).map(([, { namespace }]) => namespace);
  const isWhole = found.every(([, { namespace, requires = [] }]) =>
    requires.length === 0 || [namespace, ...requires].every((name) => plain.includes(name))
  );
  return isWhole ? found : null;
}

/** Whether its contribution to a query may depend on its settings. */
function isConfigured(
  { namespace, onByDefault, settings }: ExtensionDescription,
  { config, offered = {} }: Wanted,
): boolean {
  const section = config.extensions.config[namespace];
  if (settings === undefined || Array.isArray(section)) return section !== undefined;
  if (Object.keys(settings.offered).some((kind) => offered[kind])) return true;
  const others = [...onByDefault === undefined ? [] : ["enabled"], ...Object.values(settings.programs)];
  return Object.entries(Object(section ?? {})).some(([key, value]) =>
    !others.includes(key) && JSON.stringify(value) !== JSON.stringify(settings.defaults[key])
  );
}

function homeOf({ home, extensionHome = home }: Wanted): string | null {
  return extensionHome;
}

/** Loads all requested extensions, with `off` also those that are not switched on, and reports what was left out. */
export async function buildRegistry(
  settings: Wanted,
  { shipped, described, realm = {} }: Pick<ShippedParts, "shipped" | "described" | "realm">,
  { folders, off = false }: { readonly folders: readonly FoundFolder[]; readonly off?: boolean },
): Promise<LoadReport & { readonly registry: ExtensionRegistry }> {
  const [{ ExtensionRegistry }, { loadShipped }, folderOptions] = await Promise.all([
    import("../../extension/registry.ts"),
    import("../../extension/loader.ts"),
    folders.length > 0 ? folderOptionsOf(settings) : null,
  ]);
  const log = createLog("extension");
  const { locked, offered } = settings;
  const wants = { ...settings.config.extensions, locked, off };
  const options: LoadOptions = { log, ...wants, ...(folderOptions ? { folderOptions } : {}) };
  // Code that its description leaves out is not loaded.
  const wanted = Object.keys(shipped).filter((name) => {
    const one = described[name];
    return !one || isWanted(name, one, wants) && (locked?.writable !== false || one.readOnly);
  });
  const report = await loadShipped(shipped, { ...options, wanted, folders, realm });
  const registry = new ExtensionRegistry({
    log,
    home: homeOf(settings),
    config: wants.config,
    offered,
    withSecrets: await settingSecrets([wants.config, offered], settings),
    load: (ref) => loadOne(ref, { settings, shipped, options, loaded: report.loaded }),
  });
  const skipped = [...report.skipped];
  const loaded = report.loaded.filter((extension) => {
    try {
      registry.register(extension);
      return true;
    } catch (error) {
      const reason = messageOf(error);
      log.error("extension.skipped", { ext: extension.namespace, error: reason });
      const state = error instanceof SettingError ? "misconfigured" : "skipped";
      skipped.push({ name: extension.namespace, state, reason });
      return false;
    }
  });
  return { registry, loaded, skipped, folders: report.folders };
}

/** Resolves a name of `env.load`: a loaded namespace, or a folder that is the user's own or trusted. */
async function loadOne(
  ref: string,
  { settings, options, loaded }: {
    readonly settings: Wanted;
    readonly shipped: ShippedIndex;
    readonly options: LoadOptions;
    readonly loaded: readonly Extension[];
  },
): Promise<Extension> {
  const there = loaded.find(({ namespace }) => namespace === ref);
  if (there) return there;
  if (!ref.includes("/")) throw new Error(`Cannot load ${ref}: no such extension; a folder has a slash in its path`);
  const path = await Deno.realPath(resolve(settings.workspace, ref));
  const own = settings.home !== null && isBelow(path, join(settings.home, "extensions"));
  const { loadShipped } = await import("../../extension/loader.ts");
  const folderOptions = options.folderOptions ?? await folderOptionsOf(settings);
  const folders: FoundFolder[] = [{ place: own ? "home" : "project", path }];
  const found = await loadShipped({}, { ...options, folders, folderOptions });
  const [extension] = found.loaded;
  if (extension && found.loaded.length === 1) return extension;
  throw new Error(found.skipped[0]?.reason ?? `Cannot load ${ref}: its folder has ${found.loaded.length} extensions`);
}

/** Locations of the copied folders and of the list of trusted ones. */
export async function folderOptionsOf({ home }: Pick<Settings, "home">): Promise<LoadFolderOptions> {
  if (home === null) throw new ConfigError("Cannot load extensions: set VIS_HOME to a folder that Vis may write");
  const [{ moduleReader }, { realmModuleReader }, { TrustList }] = await Promise.all([
    import("../../sandbox/modules/read_module.ts"),
    import("../../sandbox/modules/realm_module.ts"),
    import("../../extension/folder.ts"),
  ]);
  return {
    cache: join(home, "cache", "extensions"),
    readModule: moduleReader(),
    readRealmModule: realmModuleReader(),
    trust: new TrustList(join(home, "trusted_extensions.json")),
  };
}

/** The source, which also says which shipped extensions the settings switch off, or do not let in. */
export function withOffParts(
  source: ExtensionSource,
  { config, described }: Pick<Settings, "config"> & Pick<ShippedParts, "described">,
): ExtensionSource {
  const off = Object.entries(described).flatMap(([name, one]) =>
    one && (one.howToEnable || !isWanted(name, one, config.extensions)) ? [offPart(name, one, config.extensions)] : []
  );
  if (off.length === 0) return source;
  return {
    activate: async (env, own) => {
      const active = await source.activate(env, own);
      const there = new Set(active.list.map(({ namespace }) => namespace));
      return { ...active, off: off.filter(({ namespace }) => !there.has(namespace)) };
    },
    known: (envId) => source.known?.(envId) ?? [],
    release: (envId) => source.release?.(envId),
  };
}

function offPart(
  name: string,
  { namespace, functions, settings, howToEnable }: ExtensionDescription,
  { allow, deny, config }: Settings["config"]["extensions"],
): OffPart {
  const isListed = (list: readonly string[]): boolean => list.includes(namespace) || list.includes(name);
  const section = settings?.section ?? `extensions.config["${namespace}"]`;
  const how = isListed(deny)
    ? `remove ${name} from extensions.deny, or run without --no-extension ${name}`
    : allow !== null && !isListed(allow)
    ? `add ${name} to extensions.allow`
    : (Object(config[namespace]).enabled === false ? undefined : howToEnable) ??
      `vis config set ${section}.enabled true`;
  return { namespace, alias: functions[0]?.split(".")[0] ?? name, functions, how };
}

/** Throws `UsageError` if an extension to leave out does not exist. The extensions in a folder are unknown until it is
 * read: if there is a folder, every name may be valid. */
export async function checkLeftOut(
  names: readonly string[],
  { settings, parts }: { readonly settings: Settings; readonly parts: Pick<ShippedParts, "shipped" | "described"> },
): Promise<void> {
  if (names.length === 0 || (await discoverFolders(settings)).length > 0) return;
  const shipped = Object.keys(parts.shipped);
  const known = [...shipped, ...shipped.flatMap((name) => parts.described[name]?.namespace ?? [])];
  for (const name of names) {
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    const hint = near === null ? `there are ${shipped.join(", ")}` : `did you mean ${near}?`;
    throw new UsageError(`Cannot leave out ${name}: unknown extension; ${hint}`);
  }
}

/** Whether a path is inside a folder, on every system; both must be absolute. */
export function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !/^\.\.[\\/]/.test(way) && !isAbsolute(way);
}

import { join, resolve } from "node:path";
import { ConfigError, fileFault, messageOf, SettingError, UsageError } from "../../domain/errors.ts";
import { isBelow } from "../../domain/kit/files.ts";
import { nearestName } from "../../domain/kit/names.ts";
import type { ExtensionSource, OffPart } from "../../extension/active_extensions.ts";
import { discoverFolders, type FoundFolder, isWanted } from "../../extension/discover.ts";
import type { LoadFolderOptions, LoadOptions, LoadReport, ShippedIndex } from "../../extension/loader.ts";
import type { SettingSources } from "../../extension/read_config.ts";
import type { ExtensionRegistry } from "../../extension/registry.ts";
import type { Extension } from "../../extension/spec.ts";
import { createLog } from "../../logging/log.ts";
import { type Settings, settingSecrets, shippedExtensions, type ShippedParts } from "../settings/settings.ts";

type Wanted = Pick<Settings, "config" | "home" | "workspace"> & Partial<Pick<Settings, "locked" | "variable">> & {
  readonly extensionHome?: string | null | undefined;
  readonly offered?: SettingSources["offered"];
};

export async function extensionSource(
  settings: Wanted,
  parts: ShippedParts,
  { paths = [] }: { readonly paths?: readonly string[] } = {},
): Promise<{ readonly source: ExtensionSource; readonly notes: readonly string[] }> {
  const found = await discoverFolders({ ...settings, paths });
  const folders = settings.locked ? found.filter(({ place }) => place !== "project") : found;
  const { registry, skipped, unwanted, folders: used } = await buildRegistry(settings, parts, { folders });
  const named = skipped.find(({ folder }) => folder?.place === "path");
  if (named) throw new ConfigError(named.reason);
  const usedFolders = [...used.values()];
  const off = unwanted.find(({ folder }) => folder?.place === "path" && !usedFolders.includes(folder));
  if (off) {
    throw new ConfigError(`Cannot use extension ${off.name} of --extension: ${off.reason}`, {
      advice: "change the setting or option that excludes it, or leave out --extension",
    });
  }
  const source = settings.locked ? registry : withOffParts(registry, {
    config: settings.config,
    extensions: await shippedExtensions(parts),
  });
  return { source, notes: skipped.map(({ reason }) => reason) };
}

function homeOf({ home, extensionHome = home }: Wanted): string | null {
  return extensionHome;
}

export async function buildRegistry(
  settings: Wanted,
  { shipped, realm = {} }: ShippedParts,
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
  const report = await loadShipped(shipped, { ...options, folders, realm });
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
      const folder = report.folders.get(extension.namespace);
      skipped.push({ name: extension.namespace, state, reason, ...(folder ? { folder } : {}) });
      return false;
    }
  });
  return { ...report, registry, loaded, skipped };
}

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
  if (!ref.includes("/")) {
    throw new Error(
      `Cannot load extension ${ref}: no loaded extension has this name; for a folder, write a path with a slash`,
    );
  }
  const path = await Deno.realPath(resolve(settings.workspace, ref)).catch((error: unknown) => {
    throw new Error(`Cannot load an extension from ${ref}: ${fileFault(error)}; correct the path`);
  });
  const own = settings.home !== null && isBelow(path, join(settings.home, "extensions"));
  const { loadShipped } = await import("../../extension/loader.ts");
  const folderOptions = options.folderOptions ?? await folderOptionsOf(settings);
  const folders: FoundFolder[] = [{ place: own ? "home" : "project", path }];
  const found = await loadShipped({}, { ...options, folders, folderOptions });
  const [extension] = found.loaded;
  if (extension && found.loaded.length === 1) return extension;
  const [excluded] = found.unwanted;
  const why = found.loaded.length === 0 && excluded
    ? `extension ${excluded.name} is not loaded, because ${excluded.reason}`
    : `the folder has ${found.loaded.length} extensions, but must have only one; split the folder`;
  throw new Error(found.skipped[0]?.reason ?? `Cannot load an extension from ${ref}: ${why}`);
}

export async function folderOptionsOf({ home }: Pick<Settings, "home">): Promise<LoadFolderOptions> {
  if (home === null) {
    throw new ConfigError(
      "Cannot load extensions: Vis has no home folder; set VIS_HOME to a writable folder",
    );
  }
  const [{ moduleReader, realmModuleReader }, { TrustList }] = await Promise.all([
    import("../../sandbox/modules/modules.ts"),
    import("../../extension/folder.ts"),
  ]);
  return {
    cache: join(home, "cache", "extensions"),
    readModule: moduleReader(),
    readRealmModule: realmModuleReader(),
    trust: new TrustList(join(home, "trusted_extensions.json")),
  };
}

export function withOffParts(
  source: ExtensionSource,
  { config, extensions }: Pick<Settings, "config"> & { readonly extensions: ReadonlyMap<string, Extension> },
): ExtensionSource {
  const off = [...extensions].flatMap(([name, one]) =>
    one.howToEnable || !isWanted(name, one, config.extensions) ? [offPart(name, one, config.extensions)] : []
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
    namedFile: (...of) => source.namedFile(...of),
    watchFiles: (...of) => source.watchFiles?.(...of) ?? null,
  };
}

function offPart(
  name: string,
  { namespace, alias: { alias }, symbols = [], section = `extensions.config["${namespace}"]`, howToEnable }: Extension,
  { allow, deny, config }: Settings["config"]["extensions"],
): OffPart {
  const isListed = (list: readonly string[]): boolean => list.includes(namespace) || list.includes(name);
  const functions = symbols.flatMap(({ kind, name }) => kind === "function" ? [`${alias}.${name}`] : []);
  const how = isListed(deny)
    ? `remove ${name} from extensions.deny, or run without --no-extension ${name}`
    : allow !== null && !isListed(allow)
    ? `add ${name} to extensions.allow`
    : (Object(config[namespace]).enabled === false ? undefined : howToEnable) ??
      `vis config set ${section}.enabled true`;
  return { namespace, alias, functions, how };
}

export async function checkLeftOut(
  names: readonly string[],
  place: Parameters<typeof unknownExtensions>[1],
): Promise<void> {
  const [unknown] = await unknownExtensions(names, place);
  if (unknown !== undefined) throw new UsageError(`Cannot leave out extension ${unknown}`);
}

/** A name could belong to an unreadable folder, so one such folder suffices to report no name. */
export async function unknownExtensions(
  names: readonly string[],
  { settings, parts, paths = [] }: {
    readonly settings: Pick<Settings, "home" | "workspace">;
    readonly parts: Pick<ShippedParts, "shipped">;
    readonly paths?: readonly string[];
  },
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  const shipped = Object.keys(parts.shipped);
  const known = [...shipped, ...[...(await shippedExtensions(parts)).values()].map(({ namespace }) => namespace)];
  const { readExtensionFolder } = await import("../../extension/folder.ts");
  for (const { path, fault } of await discoverFolders({ ...settings, paths })) {
    const entries = fault === undefined ? await readExtensionFolder(path).then((one) => one.entries, () => []) : [];
    if (entries.length === 0) return [];
    known.push(...entries.map(({ namespace }) => namespace));
  }
  return names.filter((name) => !known.includes(name)).map((name) => {
    const near = known.find((one) => one.endsWith(`.${name}`)) ?? nearestName(name, known);
    return `${name}: no extension has this name; ` +
      `${near === null ? `choose one of ${shipped.join(", ")}` : `did you mean ${near}?`}`;
  });
}

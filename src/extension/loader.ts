import { messageOf } from "../domain/errors.ts";
import type { LeftOut } from "../domain/reports.ts";
import type { Log } from "../logging/log.ts";
import { messageWithLine } from "./active.ts";
import { type FoundFolder, isWanted, type Wants } from "./discover.ts";
import { type ExtensionFolder, readExtensionFolder, type TrustList } from "./folder.ts";
import { importExtension, type ImportOptions, realmScripts } from "./import_folder.ts";
import { installOrder } from "./registry.ts";
import type { Extension } from "./spec.ts";
import { type NormalExtension, validateExtension } from "./validate.ts";
import { basename } from "node:path";

/** Name of a shipped extension to its literal `import()`. Passed down from main.ts: src/ never imports extensions/. */
export type ShippedIndex = Readonly<Record<string, () => Promise<{ readonly default: Extension }>>>;

/** Name of a shipped extension to the scripts of its modules. */
export type RealmIndex = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface LoadReport {
  readonly loaded: readonly NormalExtension[];
  /** What was skipped, with the reason as text. */
  readonly skipped: readonly Skipped[];
  /** Namespace to the folder that it came from; shipped extensions have none. */
  readonly folders: ReadonlyMap<string, FoundFolder>;
}

export interface Skipped {
  readonly name: string;
  readonly state: LeftOut;
  readonly reason: string;
  /** The folder that it came from, if any. */
  readonly folder?: FoundFolder;
}

export interface LoadOptions extends Wants {
  readonly log: Log;
  /** Folders to load in addition, in order. */
  readonly folders?: readonly FoundFolder[];
  /** For shipped extensions: name to the scripts of its modules, generated when the program is built. */
  readonly realm?: RealmIndex;
  /** Required to load folders. */
  readonly folderOptions?: LoadFolderOptions;
}

export interface LoadFolderOptions extends ImportOptions {
  readonly trust: TrustList;
}

/** Loads shipped extensions and those in folders. Never throws: an extension that fails is skipped together with those
 * that require it. */
export async function loadShipped(index: ShippedIndex, options: LoadOptions): Promise<LoadReport> {
  const results: Loaded[] = (await Promise.all([
    Promise.all(Object.entries(index).map(([name, load]) => loadOne(name, load, options.realm))),
    ...(options.folders ?? []).map((folder) => loadFolder(folder, options)),
  ])).flat();
  const wanted = results.flatMap((one): readonly Loaded[] => "reason" in one ? [one] : wantedPart(one, options));
  const found = distinct(wanted.filter((one) => "extension" in one));
  const skipped: Skipped[] = [...wanted.filter((one) => "reason" in one), ...found.skipped];
  const loaded = installable(found.kept);
  for (const one of found.kept.filter((one) => !loaded.includes(one))) {
    skipped.push(failed(one, chainOf(one, found.kept)));
  }
  for (const { name, folder } of loaded) {
    // Shipped extensions are not logged: a line for each at every start would tell nothing.
    options.log[folder ? "info" : "debug"]("extension.loaded", {
      ext: name,
      ...(folder ? { place: folder.place } : {}),
    });
  }
  for (const { name, reason } of skipped) options.log.error("extension.skipped", { ext: name, error: reason });
  const folders = new Map(
    loaded.flatMap(({ extension, folder }) => folder ? [[extension.namespace, folder] as const] : []),
  );
  return { loaded: loaded.map(({ extension }) => extension), skipped, folders };
}

interface Found {
  readonly name: string;
  readonly extension: NormalExtension;
  readonly folder?: FoundFolder;
}
type Loaded = Found | Skipped;

/** A shipped extension without `readOnly` is left out of a read-only workspace; one in a folder was listed by whoever
 * runs the locked profile. */
function wantedPart(one: Found, options: LoadOptions): readonly Found[] {
  if (!isWanted(one.name, one.extension, options)) return [];
  if (options.locked?.writable !== false) return [one];
  const extension = readOnlyPart(one.extension) ?? (one.folder ? one.extension : null);
  return extension ? [{ ...one, extension }] : [];
}

/** Returns the part of an extension that a read-only workspace gets, or null if it has no `readOnly`. */
function readOnlyPart(extension: NormalExtension): NormalExtension | null {
  const { readOnly, symbols } = extension;
  if (readOnly === undefined || readOnly === true) return readOnly ? extension : null;
  const { prompt } = readOnly;
  return { ...extension, prompt: () => prompt, symbols: symbols.filter(({ name }) => readOnly.symbols.includes(name)) };
}

/** The first one wins, except that a folder named by the user replaces it. */
function distinct(all: readonly Found[]): { readonly kept: readonly Found[]; readonly skipped: readonly Skipped[] } {
  const kept: Found[] = [];
  const skipped: Skipped[] = [];
  for (const one of all) {
    const { namespace, alias: { alias } } = one.extension;
    const before = kept.findIndex(({ extension }) => extension.namespace === namespace);
    const holder = kept.find(({ extension }, at) => at !== before && extension.alias.alias === alias);
    if (holder) skipped.push(failed(one, `alias ${alias} belongs to ${holder.extension.namespace}`));
    else if (before < 0) kept.push(one);
    else if (one.folder?.place === "path") kept[before] = one;
    else skipped.push(failed(one, `${namespace} is loaded already`));
  }
  return { kept, skipped };
}

/** Those whose requirements are met by others in the list. */
function installable(found: readonly Found[]): readonly Found[] {
  const there = new Set<string>();
  for (let before = -1; before < there.size;) {
    before = there.size;
    for (const { extension } of found) {
      if (extension.requires.every((name) => there.has(name))) there.add(extension.namespace);
    }
  }
  return found.filter(({ extension }) => there.has(extension.namespace));
}

function chainOf(one: Found, found: readonly Found[]): string {
  try {
    installOrder([one.extension, ...found.filter((other) => other !== one).map(({ extension }) => extension)]);
    return "its requirements cannot be met";
  } catch (error) {
    return messageOf(error);
  }
}

async function loadOne(
  name: string,
  load: ShippedIndex[string],
  realm: RealmIndex = {},
): Promise<Loaded> {
  try {
    return { name, extension: realmScripts(validateExtension((await load()).default), realm[name] ?? {}) };
  } catch (error) {
    return failed({ name }, messageOf(error));
  }
}

/** Loads the extensions of one folder. A project's folder is loaded only if the user trusts its exact content. */
async function loadFolder(folder: FoundFolder, { folderOptions, ...options }: LoadOptions): Promise<readonly Loaded[]> {
  const name = basename(folder.path);
  if (folder.fault !== undefined) return [failed({ name, folder }, folder.fault)];
  if (!folderOptions) return [failed({ name, folder }, "there is no folder for copies of it")];
  let read: ExtensionFolder;
  try {
    read = await readExtensionFolder(folder.path);
    if (folder.place === "project" && !await folderOptions.trust.has(folder.path, read.hash)) {
      const why = `it is not trusted; review it with vis extensions trust (${read.hash.slice(0, 12)})`;
      return [{ ...failed({ name, folder }, why), state: "untrusted" }];
    }
  } catch (error) {
    return [failed({ name, folder }, messageOf(error))];
  }
  return await Promise.all(
    read.entries.filter(({ namespace }) => isNamed(namespace, options)).map(async (entry): Promise<Loaded> => {
      try {
        return { name: entry.namespace, folder, extension: await importExtension(read, entry, folderOptions) };
      } catch (error) {
        return failed({ name: entry.namespace, folder }, messageWithLine(error));
      }
    }),
  );
}

/** Code of an extension that will not be loaded is not run either. */
function isNamed(namespace: string, { allow = null, deny = [] }: LoadOptions): boolean {
  return !deny.includes(namespace) && (allow === null || allow.includes(namespace));
}

function failed({ name, folder }: Pick<Found, "name" | "folder">, why: string): Skipped {
  return { name, state: "skipped", reason: `Cannot load ${name}: ${why}`, ...(folder ? { folder } : {}) };
}

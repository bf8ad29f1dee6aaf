import { shellText } from "../domain/kit/text.ts";
import { messageOf, reasonOf } from "../domain/errors.ts";
import { type Clock, REAL_CLOCK } from "../domain/kit/concurrency.ts";
import type { LeftOut } from "../domain/admin_reports.ts";
import type { Log } from "../logging/log.ts";
import { answerInTime, messageWithLine, TookTooLong } from "./active_extensions.ts";
import { type FoundFolder, type Wants, whyUnwanted } from "./discover.ts";
import { type ExtensionFolder, type ManifestEntry, readExtensionFolder, type TrustList } from "./folder.ts";
import { requirementFault } from "./registry.ts";
import type { Extension } from "./spec.ts";
import { asFunction, defineExtension, ExtensionRefusal, type NormalExtension, REALM_SCRIPTS } from "./validate.ts";
import { basename, dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";

/** `src/` imports no extension, so the caller passes an `import()` of each shipped extension by its name. */
export type ShippedIndex = Readonly<Record<string, () => Promise<{ readonly default: Extension }>>>;

export type RealmIndex = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface LoadReport {
  readonly loaded: readonly NormalExtension[];
  readonly skipped: readonly Skipped[];
  readonly unwanted: readonly Skipped[];
  readonly folders: ReadonlyMap<string, FoundFolder>;
}

export interface Skipped {
  readonly name: string;
  readonly state: LeftOut;
  readonly reason: string;
  readonly folder?: FoundFolder;
  readonly extension?: NormalExtension;
}

export interface LoadOptions extends Wants {
  readonly log: Log;
  readonly folders?: readonly FoundFolder[];
  readonly realm?: RealmIndex;
  readonly folderOptions?: LoadFolderOptions;
}

export interface LoadFolderOptions extends ImportOptions {
  readonly trust: TrustList;
}

export async function loadShipped(index: ShippedIndex, options: LoadOptions): Promise<LoadReport> {
  const results: Loaded[] = (await Promise.all([
    Promise.all(Object.entries(index).map(([name, load]) => loadOne(name, load, options.realm))),
    ...(options.folders ?? []).map((folder) => loadFolder(folder, options)),
  ])).flat();
  const read = results.map((one) => "reason" in one ? one : wantedPart(one, options));
  const found = distinct(read.flatMap((one) => "reason" in one ? [] : [one]));
  const leftOut = read.filter((one) => "reason" in one);
  const unwanted = leftOut.filter(({ state }) => state === "off");
  const skipped: Skipped[] = [...leftOut.filter(({ state }) => state !== "off"), ...found.skipped];
  const loaded = installable(found.kept);
  for (const one of found.kept.filter((one) => !loaded.includes(one))) {
    skipped.push(failed(one, chainOf(one, found.kept)));
  }
  for (const { name, folder } of loaded) {
    options.log[folder ? "info" : "debug"]("extension.loaded", {
      ext: name,
      ...(folder ? { place: folder.place } : {}),
    });
  }
  for (const { name, reason } of skipped) options.log.error("extension.skipped", { ext: name, error: reason });
  const folders = new Map(
    loaded.flatMap(({ extension, folder }) => folder ? [[extension.namespace, folder] as const] : []),
  );
  return { loaded: loaded.map(({ extension }) => extension), skipped, unwanted, folders };
}

interface Found {
  readonly name: string;
  readonly extension: NormalExtension;
  readonly folder?: FoundFolder;
}
type Loaded = Found | Skipped;

/** With a read-only workspace, the locked profile omits a shipped extension without `readOnly`. The profile loads such an
 * extension of a folder as a whole, because the operator allowed it. */
function wantedPart(one: Found, options: LoadOptions): Loaded {
  const { namespace, onByDefault } = one.extension;
  const why = whyUnwanted(one.name, { namespace, onByDefault, isNamed: one.folder?.place === "path" }, options);
  if (why !== null) return { ...one, state: "off", reason: why };
  if (options.locked?.writable !== false) return one;
  const extension = readOnlyPart(one.extension) ?? (one.folder ? one.extension : null);
  return extension
    ? { ...one, extension }
    : { ...one, state: "off", reason: "in the locked profile, it works only with --writable" };
}

function readOnlyPart(extension: NormalExtension): NormalExtension | null {
  const { readOnly, symbols } = extension;
  if (readOnly === undefined || readOnly === true) return readOnly ? extension : null;
  const { prompt } = readOnly;
  return {
    ...extension,
    prompt: asFunction(prompt),
    symbols: symbols.filter(({ name }) => readOnly.symbols.includes(name)),
  };
}

/** A folder that the user named replaces the extension of its namespace. */
function distinct(all: readonly Found[]): { readonly kept: readonly Found[]; readonly skipped: readonly Skipped[] } {
  const kept: Found[] = [];
  const skipped: Skipped[] = [];
  for (const one of all) {
    const { namespace, alias: { alias } } = one.extension;
    const before = kept.findIndex(({ extension }) => extension.namespace === namespace);
    const holder = kept.find(({ extension }, at) => at !== before && extension.alias.alias === alias);
    if (holder) skipped.push(failed(one, `its alias ${alias} belongs to ${holder.extension.namespace}`));
    else if (before < 0) kept.push(one);
    else if (one.folder?.place === "path") kept[before] = one;
    else skipped.push(failed(one, `another extension named ${namespace} is loaded already`));
  }
  return { kept, skipped };
}

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
  const others = found.filter((other) => other !== one).map(({ extension }) => extension);
  return requirementFault(one.extension, [one.extension, ...others]) ?? "";
}

async function loadOne(
  name: string,
  load: ShippedIndex[string],
  realm: RealmIndex = {},
): Promise<Loaded> {
  try {
    return { name, extension: realmScripts(defineExtension((await load()).default), realm[name] ?? {}) };
  } catch (error) {
    return thrown({ name }, error, messageOf(error));
  }
}

/** Vis loads a folder of a project only if the user trusts its exact content. */
async function loadFolder(folder: FoundFolder, { folderOptions, ...options }: LoadOptions): Promise<readonly Loaded[]> {
  const name = basename(folder.path);
  if (folder.fault !== undefined) return [failed({ name, folder }, folder.fault)];
  if (!folderOptions) {
    return [
      failed({ name, folder }, "Vis has no home folder to copy it to; set VIS_HOME to a writable folder"),
    ];
  }
  let read: ExtensionFolder;
  try {
    read = await readExtensionFolder(folder.path);
    if (folder.place === "project" && !await folderOptions.trust.has(folder.path, read.hash)) {
      const why = `it is not trusted; review it with vis extensions trust ${shellText([folder.path])} (its hash is ${
        read.hash.slice(0, 12)
      }…)`;
      return [{ ...failed({ name, folder }, why), state: "untrusted" }];
    }
  } catch (error) {
    return [{ name, state: "skipped", reason: messageOf(error), folder }];
  }
  return await Promise.all(
    read.entries.map(async (entry): Promise<Loaded> => {
      const { namespace: name } = entry;
      // Vis checks the namespace before the import, so that the code of excluded extensions does not run.
      const why = whyUnwanted(name, { namespace: name }, options);
      if (why !== null) return { name, folder, state: "off", reason: why };
      try {
        return { name, folder, extension: await importExtension(read, entry, folderOptions) };
      } catch (error) {
        return thrown({ name, folder }, error, messageWithLine(error));
      }
    }),
  );
}

function thrown(of: Pick<Found, "name" | "folder">, error: unknown, message: string): Skipped {
  if (error instanceof TookTooLong) {
    const why = `its module did not load within ${error.ms / 1000} s, the limit; correct the extension, or add its ` +
      "name to extensions.deny";
    return failed(of, why);
  }
  return error instanceof ExtensionRefusal ? { ...failed(of, message), reason: message } : failed(of, message);
}

function failed({ name, folder }: Pick<Found, "name" | "folder">, why: string): Skipped {
  return { name, state: "skipped", reason: `Cannot load ${name}: ${why}`, ...(folder ? { folder } : {}) };
}

type ReadModule = (source: string, path: string) => {
  readonly code: string;
  readonly imports: readonly { readonly specifier: string; readonly start: number; readonly end: number }[];
};

interface ImportOptions {
  readonly cache: string;
  readonly readModule: ReadModule;
  readonly readRealmModule?: ReadRealmModule;
  readonly clock?: Pick<Clock, "sleep">;
}

const CODE = /(?<!\.d)\.m?[jt]s$/;
const TEST = /(?:^|[/._])test\.m?[jt]s$/;
/** The format is a part of the name of a copy, so that Vis does not reuse a copy in an older format. */
const FORMAT = "2";
const SHIMS = {
  "@vis/extension": { file: "@vis-extension.mjs", key: "vis.extension", load: () => import("./mod.ts") },
  "@vis/extension/testing": {
    file: "@vis-extension-testing.mjs",
    key: "vis.extension.testing",
    load: async () => {
      const { test, testExtension } = await import("./testing.ts");
      return { test, testExtension };
    },
  },
} as const;
type Shims = readonly (keyof typeof SHIMS)[];
const FOR_EXTENSIONS: Shims = ["@vis/extension"], FOR_TESTS: Shims = ["@vis/extension", "@vis/extension/testing"];

async function importExtension(
  folder: ExtensionFolder,
  entry: ManifestEntry,
  options: ImportOptions,
): Promise<NormalExtension> {
  const roots = folder.entries.map((one) => one.entry);
  const module = await importModule(folder, entry.entry, { ...options, roots, shims: FOR_EXTENSIONS });
  const extension = defineExtension(Reflect.get(Object(module), "default"));
  const fault = differenceOf(extension, entry);
  if (fault !== null) throw new ExtensionRefusal(`Cannot use extension ${entry.namespace}: ${fault}`);
  const { readRealmModule: read } = options;
  if (!extension.modules || !read) return extension;
  const place = (path: string): string => posix.join(posix.dirname(entry.entry), path);
  const textOf = (path: string): string | null => {
    const bytes = folder.files.get(place(path));
    return bytes ? new TextDecoder().decode(bytes) : null;
  };
  return withScripts(extension, { textOf, read });
}

export function testFiles({ files }: ExtensionFolder): readonly string[] {
  return [...files.keys()].filter((path) => TEST.test(path));
}

export async function importTest(folder: ExtensionFolder, path: string, options: ImportOptions): Promise<void> {
  await importModule(folder, path, { ...options, roots: testFiles(folder), shims: FOR_TESTS });
}

async function importModule(
  folder: ExtensionFolder,
  path: string,
  options: ImportOptions & Wanted,
): Promise<unknown> {
  const copy = await copyOf(folder, options);
  for (const name of options.shims) Reflect.set(globalThis, Symbol.for(SHIMS[name].key), await SHIMS[name].load());
  const load = (): Promise<unknown> => import(pathToFileURL(join(copy, `${path}.mjs`)).href);
  return await answerInTime(load, { clock: options.clock ?? REAL_CLOCK });
}

/** The user trusted the manifest, so the loaded extension must match it. */
function differenceOf(extension: NormalExtension, entry: ManifestEntry): string | null {
  const differs = (key: string, stated: string, found: string): string =>
    `vis.json gives ${key} ${stated}, but its module gives ${found}`;
  for (const key of ["namespace", "version"] as const) {
    if (extension[key] !== entry[key]) return differs(key, entry[key], extension[key]);
  }
  const requires = [...extension.requires].sort().join(", ");
  const stated = [...entry.requires].sort().join(", ");
  if (requires !== stated) return differs("requires", stated || "nothing", requires || "nothing");
  for (const kind of ["net", "read", "write", "env"] as const) {
    const more = extension.allow?.[kind]?.find((grant) => !entry.allow[kind].includes(grant));
    if (more !== undefined) return `its module needs allow.${kind} ${more}, which vis.json does not list`;
  }
  return null;
}

interface Wanted {
  readonly roots: readonly string[];
  readonly shims: Shims;
}

/** The rename makes sure that an existing copy is complete. */
async function copyOf(
  folder: ExtensionFolder,
  { roots, shims, cache, readModule }: ImportOptions & Wanted,
): Promise<string> {
  const copy = join(cache, `${folder.hash}-${FORMAT}${shims === FOR_TESTS ? "-tests" : ""}`);
  if (await Deno.stat(copy).then(() => true, () => false)) return copy;
  const fresh = `${copy}.${crypto.randomUUID()}`;
  try {
    const modules = reachedModules(folder, { roots, readModule });
    for (const [path, bytes] of folder.files) {
      const place = join(fresh, path);
      await Deno.mkdir(dirname(place), { recursive: true, mode: 0o700 });
      const module = modules.get(path);
      if (!module) await Deno.writeFile(place, bytes);
      else await Deno.writeTextFile(`${place}.mjs`, moduleText(path, module, { folder, shims }));
    }
    for (const name of shims) await Deno.writeTextFile(join(fresh, SHIMS[name].file), await shimText(name));
    await Deno.rename(fresh, copy);
  } catch (error) {
    await Deno.remove(fresh, { recursive: true }).catch(() => {});
    if (!await Deno.stat(copy).then(() => true, () => false)) throw error;
  }
  return copy;
}

export function reachedModules(
  folder: ExtensionFolder,
  { roots, readModule }: Pick<Wanted, "roots"> & Pick<ImportOptions, "readModule">,
): ReadonlyMap<string, ReturnType<ReadModule>> {
  const modules = new Map<string, ReturnType<ReadModule>>();
  const waiting = [...roots];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const bytes = folder.files.get(path);
    if (modules.has(path) || !bytes) continue;
    const module = readModule(new TextDecoder().decode(bytes), path);
    modules.set(path, module);
    for (const { specifier } of module.imports) {
      if (!RELATIVE.test(specifier)) continue;
      const target = targetOf(specifier, path);
      if (CODE.test(target)) waiting.push(target);
    }
  }
  return modules;
}

function targetOf(specifier: string, from: string): string {
  return posix.join(posix.dirname(from), specifier);
}

const RELATIVE = /^\.\.?\//;

interface Place {
  readonly folder: ExtensionFolder;
  readonly shims: Shims;
}

function moduleText(path: string, { code, imports }: ReturnType<ReadModule>, place: Place): string {
  let text = "";
  let at = 0;
  for (const { specifier, start, end } of imports) {
    text += code.slice(at, start) + JSON.stringify(placeOf(specifier, path, place));
    at = end;
  }
  return text + code.slice(at);
}

function placeOf(specifier: string, path: string, { folder: { files }, shims }: Place): string {
  if (specifier.startsWith("node:")) return specifier;
  const shim = shims.find((name) => name === specifier);
  if (shim) return `${"../".repeat(path.split("/").length - 1) || "./"}${SHIMS[shim].file}`;
  if (!RELATIVE.test(specifier)) {
    const why = Object.hasOwn(SHIMS, specifier)
      ? "only tests may import it, such as mod_test.ts; run them with vis extensions test"
      : "an extension may import @vis/extension, node: modules and its own files; bundle packages into it";
    throw new ExtensionRefusal(`Cannot import ${specifier} in ${path}: ${why}`);
  }
  const target = targetOf(specifier, path);
  if (!files.has(target)) {
    throw new ExtensionRefusal(
      `Cannot import ${specifier} in ${path}: the extension's folder has no such file; correct the path`,
    );
  }
  return CODE.test(target) ? `${specifier}.mjs` : specifier;
}

async function shimText(name: Shims[number]): Promise<string> {
  const { key, load } = SHIMS[name];
  const names = Object.keys(await load()).join(", ");
  return `const { ${names} } = globalThis[Symbol.for("${key}")];\nexport { ${names} };\n`;
}

type ReadRealmModule = (source: string, path: string) => string;

export function withScripts(
  extension: NormalExtension,
  { textOf, read }: { readonly textOf: (path: string) => string | null; readonly read: ReadRealmModule },
): NormalExtension {
  const { namespace, modules = {} } = extension;
  const scripts = Object.entries(modules).map(([name, path]) => {
    const fail = (why: string): Error => new ExtensionRefusal(`Cannot use extension ${namespace}: ${why}`);
    const text = textOf(path);
    if (text === null) throw fail(`modules.${name} is ${path}, which does not exist in its folder; correct the path`);
    try {
      return [name, read(text, path)] as const;
    } catch (error) {
      throw fail(`Vis cannot load its module ${name} (${path}), because ${reasonOf(error)}`);
    }
  });
  return realmScripts(extension, Object.fromEntries(scripts));
}

export function realmScripts(
  extension: NormalExtension,
  scripts: Readonly<Record<string, string>>,
): NormalExtension {
  return { ...extension, [REALM_SCRIPTS]: scripts };
}

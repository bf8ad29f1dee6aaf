import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import type { ExtensionFolder } from "./extension_folder.ts";
import type { ManifestEntry } from "./manifest.ts";
import { type ReadRealmModule, withScripts } from "../realm_scripts.ts";
import { type NormalExtension, validateExtension } from "../validate_extension.ts";

/** Strips types and finds a module's imports. The app passes in the sandbox's parsers for it. */
export type ReadModule = (source: string, path: string) => {
  readonly code: string;
  readonly imports: readonly { readonly specifier: string; readonly start: number; readonly end: number }[];
};

export interface ImportOptions {
  /** Folder of the copies; each is named by its hash. */
  readonly cache: string;
  readonly readModule: ReadModule;
  /** Reads the files of `modules`. If absent, an extension that has modules is refused. */
  readonly readRealmModule?: ReadRealmModule;
}

const CODE = /(?<!\.d)\.m?[jt]s$/;
/** Part of the folder's name, so that copies made by another version are not reused. */
const FORMAT = "1";
const SHIM = "@vis-extension.mjs";
const KEY = Symbol.for("vis.extension");

/** Imports one extension from the hashed copy of its folder. Throws Error if a module cannot be loaded or does not
 * match the manifest. */
export async function importExtension(
  folder: ExtensionFolder,
  entry: ManifestEntry,
  options: ImportOptions,
): Promise<NormalExtension> {
  const copy = await copyOf(folder, options);
  Reflect.set(globalThis, KEY, await import("../spec.ts"));
  const module: unknown = await import(pathToFileURL(join(copy, `${entry.entry}.mjs`)).href);
  const extension = validateExtension(Reflect.get(Object(module), "default"));
  const fault = differenceOf(extension, entry);
  if (fault !== null) throw new Error(`Cannot use extension ${entry.namespace}: ${fault}`);
  const { readRealmModule: read } = options;
  if (!extension.modules || !read) return extension;
  const place = (path: string): string => posix.join(posix.dirname(entry.entry), path);
  const textOf = (path: string): string | null => {
    const bytes = folder.files.get(place(path));
    return bytes ? new TextDecoder().decode(bytes) : null;
  };
  return withScripts(extension, { textOf, read });
}

/** What is loaded must match what the user was shown. */
function differenceOf(extension: NormalExtension, entry: ManifestEntry): string | null {
  const differs = (key: string, stated: string, found: string): string =>
    `vis.json says ${key} ${stated}, mod says ${found}`;
  for (const key of ["namespace", "version"] as const) {
    if (extension[key] !== entry[key]) return differs(key, entry[key], extension[key]);
  }
  const requires = [...extension.requires].sort().join(", ");
  const stated = [...entry.requires].sort().join(", ");
  if (requires !== stated) return differs("requires", stated || "nothing", requires || "nothing");
  for (const kind of ["net", "read", "write", "env"] as const) {
    const more = extension.allow?.[kind]?.find((grant) => !entry.allow[kind].includes(grant));
    if (more !== undefined) return `allow.${kind} ${more} is not in vis.json`;
  }
  return null;
}

/** Written to a temporary folder and renamed, so that an existing copy is always complete. */
async function copyOf(folder: ExtensionFolder, { cache, readModule }: ImportOptions): Promise<string> {
  const copy = join(cache, `${folder.hash}-${FORMAT}`);
  if (await Deno.stat(copy).then(() => true, () => false)) return copy;
  const fresh = `${copy}.${crypto.randomUUID()}`;
  try {
    for (const [path, bytes] of folder.files) {
      const place = join(fresh, path);
      await Deno.mkdir(dirname(place), { recursive: true });
      if (!CODE.test(path)) await Deno.writeFile(place, bytes);
      else await Deno.writeTextFile(`${place}.mjs`, moduleText(folder, path, readModule));
    }
    await Deno.writeTextFile(join(fresh, SHIM), await shimText());
    await Deno.rename(fresh, copy);
  } catch (error) {
    await Deno.remove(fresh, { recursive: true }).catch(() => {});
    if (!await Deno.stat(copy).then(() => true, () => false)) throw error; // else another process was first
  }
  return copy;
}

function moduleText({ files }: ExtensionFolder, path: string, readModule: ReadModule): string {
  const { code, imports } = readModule(new TextDecoder().decode(files.get(path)), path);
  let text = "";
  let at = 0;
  for (const { specifier, start, end } of imports) {
    text += code.slice(at, start) + JSON.stringify(placeOf(specifier, path, files));
    at = end;
  }
  return text + code.slice(at);
}

function placeOf(specifier: string, path: string, files: ExtensionFolder["files"]): string {
  if (specifier.startsWith("node:")) return specifier;
  if (specifier === "@vis/extension") return `${"../".repeat(path.split("/").length - 1) || "./"}${SHIM}`;
  if (!/^\.\.?\//.test(specifier)) {
    throw new Error(
      `Cannot load ${path}: it imports ${specifier}; there are @vis/extension, node: modules and its own files, ` +
        "packages must be bundled into it",
    );
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (!files.has(target)) throw new Error(`Cannot load ${path}: it imports ${specifier}, which is not in its folder`);
  return CODE.test(target) ? `${specifier}.mjs` : specifier;
}

async function shimText(): Promise<string> {
  const names = Object.keys(await import("../spec.ts")).join(", ");
  return `const { ${names} } = globalThis[Symbol.for("vis.extension")];\nexport { ${names} };\n`;
}

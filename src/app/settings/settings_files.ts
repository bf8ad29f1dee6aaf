import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { type ConfigFile, type ProjectFile } from "../../config/layers.ts";
import { ConfigError, fileFault, isDenied, messageOf } from "../../domain/errors.ts";
import { ensureFolder, plainTextFile, replaceFile } from "../../domain/kit/files.ts";
import type { TrustList } from "../../extension/folder.ts";

export async function readConfigFile(path: string): Promise<ConfigFile | null> {
  try {
    const text = await plainTextFile(path, { exact: true });
    return text.trim() === "" ? null : { path, text };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw new ConfigError(`Cannot read ${path}: ${fileFault(error)}`, {
      code: "access",
      advice: isDenied(error) ? "let Vis read the file" : "",
      cause: error,
    });
  }
}

/** If the workspace's `.vis` is Vis's own folder, the file in it contains the user's own settings. */
export async function findProjectConfig(
  { home, workspace }: { readonly home: string | null; readonly workspace: string },
): Promise<ProjectFile | null> {
  const folder = join(workspace, ".vis");
  if (folder === home || home !== null && folder === await Deno.realPath(home).catch(() => home)) return null;
  const file = await readConfigFile(join(folder, "config.jsonc"));
  if (file === null) return null;
  return {
    ...file,
    trusted: () => new ConfigTrust(home).has(file),
    userPath: home === null ? null : join(home, "config.jsonc"),
  };
}

/** If `path` is a link, `follow` writes to its target instead of replacing the link. */
export async function writeConfigFile(
  path: string,
  { text, follow }: { readonly text: string; readonly follow: boolean },
): Promise<void> {
  try {
    await ensureFolder(dirname(path));
    const target = follow ? await Deno.realPath(path).catch(() => path) : path;
    const mode = (await Deno.lstat(target).then((found) => found.isFile ? found.mode : null, () => null)) ?? 0o600;
    await replaceFile(target, text, { mode: mode & 0o777 });
  } catch (error) {
    throw new ConfigError(`Cannot write ${path}: ${fileFault(error)}`, {
      advice: isDenied(error) ? "let Vis write the file" : "",
    });
  }
}

/** The list stores a hash of each file's text, so each change of a file needs new trust. */
export class ConfigTrust {
  readonly #path: string | null;
  #opened: Promise<TrustList> | null = null;

  constructor(home: string | null) {
    this.#path = home === null ? null : join(home, "trusted-configs.json");
  }

  #list(): Promise<TrustList> | null {
    const path = this.#path;
    if (path === null) return null;
    return this.#opened ??= import("../../extension/folder.ts").then(({ TrustList }) => new TrustList(path));
  }

  async has(file: ConfigFile): Promise<boolean> {
    try {
      return await (await this.#list())?.has(file.path, hashOf(file)) ?? false;
    } catch (error) {
      throw new ConfigError(messageOf(error), { code: "access" });
    }
  }

  async add(file: ConfigFile): Promise<void> {
    const list = await this.#list();
    if (list === null) {
      throw new ConfigError(
        `Cannot trust ${file.path}: Vis has no home folder in which to store your trust; set VIS_HOME to a writable folder`,
      );
    }
    await list.add({ path: file.path, hash: hashOf(file), namespaces: [], at: new Date().toISOString() });
  }

  async remove(path: string): Promise<boolean> {
    return await (await this.#list())?.remove(path) ?? false;
  }
}

function hashOf({ text }: ConfigFile): string {
  return createHash("sha256").update(text).digest("hex");
}

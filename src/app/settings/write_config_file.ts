import { dirname } from "node:path";
import { ConfigError, fileFault } from "../../domain/errors.ts";
import { ensureFolder, replaceFile } from "../../domain/kit/files.ts";

/** Replaces a file as a whole. It keeps the old permissions; only its owner can read a new one. `follow`: writes to the
 * target of a link; otherwise the link is replaced. Throws `ConfigError`. */
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
    throw new ConfigError(`Cannot write ${path}: ${fileFault(error)}`);
  }
}

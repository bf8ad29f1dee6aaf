import { basename, dirname, join } from "node:path";
import { ConfigError } from "../../domain/errors.ts";
import { fileFault } from "../../domain/text/file_fault.ts";

/** Replaces a file atomically. It keeps the old permissions; only its owner can read a new one. `follow`: writes to the
 * target of a link; otherwise the link is replaced. Throws `ConfigError`. */
export async function writeConfigFile(
  path: string,
  { text, follow }: { readonly text: string; readonly follow: boolean },
): Promise<void> {
  try {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const target = follow ? await Deno.realPath(path).catch(() => path) : path;
    const mode = (await Deno.lstat(target).then((found) => found.isFile ? found.mode : null, () => null)) ?? 0o600;
    const fresh = join(dirname(target), `.${basename(target)}.${crypto.randomUUID()}`);
    try {
      using file = await Deno.open(fresh, { write: true, createNew: true, mode: mode & 0o777 });
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
      await file.sync();
      await Deno.rename(fresh, target);
    } catch (error) {
      await Deno.remove(fresh).catch(() => {});
      throw error;
    }
  } catch (error) {
    throw new ConfigError(`Cannot write ${path}: ${fileFault(error)}`);
  }
}

import { fileFault, UsageError } from "../../domain/errors.ts";
import type { InstalledRelease } from "../../domain/reports.ts";

const IS_WINDOWS = Deno.build.os === "windows";

/** Replaces an executable at once, after the new one has told its version. The one from before is kept with `.old` at
 * the end of its name. After an error everything is as it was. Throws `UsageError`. */
export async function replaceProgram(
  link: string,
  bytes: Uint8Array,
  { version }: { readonly version: string },
): Promise<InstalledRelease> {
  const path = await Deno.realPath(link);
  const fresh = `${path}.${crypto.randomUUID()}${IS_WINDOWS ? ".exe" : ""}`;
  try {
    await write(fresh, bytes);
    await tryOut(fresh, version);
    const kept = `${path}.old`;
    await swap({ path, fresh, kept });
    return { path, kept };
  } catch (error) {
    await Deno.remove(fresh).catch(() => {});
    if (error instanceof UsageError) throw error;
    throw new UsageError(`Cannot replace ${path}: ${fileFault(error)}`);
  }
}

async function write(path: string, bytes: Uint8Array): Promise<void> {
  await Deno.writeFile(path, bytes, { mode: 0o755, createNew: true });
  using file = await Deno.open(path);
  await file.sync();
}

async function tryOut(path: string, version: string): Promise<void> {
  const command = new Deno.Command(path, { args: ["version"], stdin: "null", stderr: "null" });
  const { success, stdout } = await command.output();
  const [name, found] = new TextDecoder().decode(stdout).trim().split(/\s/);
  if (!success || name !== "vis" || found !== version) {
    throw new UsageError(`Cannot update: the downloaded file does not run here as vis ${version}; nothing was changed`);
  }
}

/** Windows does not replace a program that runs, but it renames it. */
async function swap(
  { path, fresh, kept }: { readonly path: string; readonly fresh: string; readonly kept: string },
): Promise<void> {
  const aside = `${fresh}.old`;
  if (IS_WINDOWS) await Deno.rename(path, aside);
  else await Deno.link(path, aside).catch(() => Deno.copyFile(path, aside));
  try {
    await Deno.rename(fresh, path);
  } catch (error) {
    await (IS_WINDOWS ? Deno.rename(aside, path) : Deno.remove(aside));
    throw error;
  }
  await Deno.rename(aside, kept);
}

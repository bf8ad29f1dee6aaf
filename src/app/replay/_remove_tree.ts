import { join } from "node:path";
import { removeTree } from "../../processes/folders.ts";

/** Removes a folder with its contents, even if a folder in it forbids removal. Follows no links. */
export async function removeCopy(path: string): Promise<void> {
  try {
    await removeTree(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (!isUnreadable(error)) throw error;
    await unlock(path);
    await removeTree(path);
  }
}

async function unlock(folder: string): Promise<void> {
  await Deno.chmod(folder, 0o700);
  for await (const { name, isDirectory } of Deno.readDir(folder)) if (isDirectory) await unlock(join(folder, name));
}

export function isUnreadable(error: unknown): boolean {
  return error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable;
}

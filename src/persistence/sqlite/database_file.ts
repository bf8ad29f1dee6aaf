import { chmod, mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreError } from "../../domain/errors.ts";

const MODE = 0o600;

/** Makes the file (0600) and its folder (0700) where they are missing, and refuses what cannot be a database of ours
 * before SQLite sees it. */
export async function prepareDatabaseFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return await (await open(path, "a", MODE)).close();
  if (found.isDirectory()) {
    throw new StoreError(
      `Cannot use database ${path}: it is a folder, give the path of a file with --db`,
      "unavailable",
    );
  }
  if (!found.isFile()) {
    throw new StoreError(
      `Cannot use database ${path}: it is not a regular file, give another with --db`,
      "unavailable",
    );
  }
  // Asked before SQLite is, because for root the bits stop nobody.
  if ((found.mode & 0o200) === 0) {
    throw new StoreError(
      `Cannot use database ${path}: it is read-only, make the file writable or give another with --db`,
      "readonly",
    );
  }
}

/** Takes the rights of others away, once the file is known to be ours. A file of another owner keeps its mode: whether
 * it can be written shows when it is. */
export async function protectDatabaseFile(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) await chmod(path, MODE).catch(() => undefined);
}

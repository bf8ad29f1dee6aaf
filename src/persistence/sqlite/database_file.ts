import { chmod, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreError } from "../../domain/errors.ts";
import { ensureFile, ensureFolder } from "../../domain/kit/files.ts";

const MODE = 0o600;

/** Creates the file (0600) and its folder (0700) if missing, and refuses a file that cannot be a Vis database before
 * SQLite opens it. */
export async function prepareDatabaseFile(path: string): Promise<void> {
  await ensureFolder(dirname(path));
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return await ensureFile(path, { mode: MODE });
  if (found.isDirectory()) {
    throw new StoreError(
      `Cannot use database ${path}: it is a folder, choose a file with --db`,
      "unavailable",
    );
  }
  if (!found.isFile()) {
    throw new StoreError(
      `Cannot use database ${path}: it is not a regular file, choose another with --db`,
      "unavailable",
    );
  }
  // Checked before SQLite does, because root is not bound by the permission bits.
  if ((found.mode & 0o200) === 0) {
    throw new StoreError(
      `Cannot use database ${path}: it is read-only, make the file writable or choose another with --db`,
      "readonly",
    );
  }
}

/** Removes the permissions of other users once the file is known to be a Vis database. A file of another owner keeps
 * its mode: whether it can be written shows on the first write. */
export async function protectDatabaseFile(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) await chmod(path, MODE).catch(() => undefined);
}

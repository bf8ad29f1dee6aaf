import { chmod, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";
import { StoreError, UsageError } from "../../domain/errors.ts";
import { ensureFile, ensureFolder } from "../../domain/kit/files.ts";
import { headerDamage, logDamage } from "./damaged_file.ts";
import { type FoundSchema, foundSchema, migrate, schemaProblems } from "./migrate.ts";
import { damaged, isBusy } from "./store_error.ts";

/** For statements outside of transactions; a writer waits in the driver, off the event loop. */
const BUSY_MS = 50;

interface OpenDatabase {
  readonly db: DatabaseSync;
  /** Null for a database in memory. */
  readonly files: OpenFiles | null;
}

/** Opens one connection to a Vis database with the newest schema; creates the database if missing. */
export async function openDatabase(path: string, now: () => number): Promise<OpenDatabase> {
  if (path !== ":memory:") {
    await prepareDatabaseFile(path);
    await refuseDamagedFile(path);
  }
  // The last connection that is closed removes the log.
  const isLeft = path !== ":memory:" && await stat(`${path}-wal`).then(({ size }) => size > 0, () => false);
  const files = path === ":memory:" ? null : new OpenFiles(path);
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    // Nothing is changed, neither mode nor journal, before the file is known to be an undamaged Vis database.
    refuseOther(db, path);
    if (path !== ":memory:") {
      await protectDatabaseFile(path);
      if (isLeft) checkLeft(db, path);
      db.exec("PRAGMA journal_mode = WAL");
    }
    db.exec("PRAGMA synchronous = NORMAL");
    db.exec("PRAGMA foreign_keys = ON");
    db.exec("PRAGMA cell_size_check = ON");
    await migrate(db, migrations, { path, now });
    files?.opened();
    return { db, files };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Reads one snapshot: another process may be about to migrate it to a newer schema. */
function refuseOther(db: DatabaseSync, path: string): void {
  db.exec("BEGIN");
  try {
    refuseOtherSchema(db, { schema: foundSchema(db, { files: migrations, path }), path });
  } finally {
    db.exec("ROLLBACK");
  }
}

/** Checks the pages of a database that its last process did not close. While another process uses it, SQLite cannot
 * leave WAL mode, and that process has checked it. */
function checkLeft(db: DatabaseSync, path: string): void {
  try {
    db.exec("PRAGMA busy_timeout = 0");
    db.exec("PRAGMA journal_mode = DELETE");
  } catch (error) {
    if (isBusy(error)) return;
    throw error;
  } finally {
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  }
  const [found] = db.prepare("PRAGMA quick_check(1)").all();
  if (found?.quick_check !== "ok") throw damaged(path, { what: String(found?.quick_check).replaceAll("\n", " ") });
}

/** How long database maintenance waits until it can begin. */
const WAIT_MS = 5_000;

interface ExistingDatabase {
  readonly db: DatabaseSync;
  readonly schema: FoundSchema;
}

/** Connects to an existing Vis database as it is: nothing is created, migrated or switched. `action` begins the message
 * of the `UsageError` if there is no database. Throws `StoreError` for a foreign or newer one. */
export async function openExisting(path: string, action: string): Promise<ExistingDatabase> {
  if (path === ":memory:") throw new UsageError(`Cannot ${action} :memory:: it is not a file`);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  if (found === null) throw new UsageError(`Cannot ${action} ${path}: there is no such file`);
  if (!found.isFile()) throw new UsageError(`Cannot ${action} ${path}: it is not a regular file`);
  await refuseDamagedFile(path);
  const db = new DatabaseSync(path, { timeout: WAIT_MS, enableForeignKeyConstraints: true });
  try {
    const schema = foundSchema(db, { files: migrations, path });
    if (schema.version === 0) throw new UsageError(`Cannot ${action} ${path}: it is not a database of Vis`);
    return { db, schema };
  } catch (error) {
    db.close();
    throw error;
  }
}

const MODE = 0o600;

/** Creates the file (0600) and its folder (0700) if missing, and refuses a file that cannot be a Vis database before
 * SQLite opens it. */
async function prepareDatabaseFile(path: string): Promise<void> {
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
async function protectDatabaseFile(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) await chmod(path, MODE).catch(() => undefined);
}

/** Throws `StoreError` for a Vis database whose first bytes are wrong or whose log has a gap, before SQLite reads them.
 * This process must not have a connection to it yet: closing a file releases its locks. */
async function refuseDamagedFile(path: string): Promise<void> {
  const what = await headerDamage(path) ?? await logDamage(path);
  if (what !== null) throw damaged(path, { what });
}

/** Throws `StoreError` if a table, index, view or trigger differs from the schema of the database's version. */
function refuseOtherSchema(
  db: DatabaseSync,
  { schema, path }: { readonly schema: FoundSchema; readonly path: string },
): void {
  const [what] = schemaProblems(db, schema);
  if (what !== undefined) throw damaged(path, { what });
}

/** Opens a database that no other connection has open, with its log written back into the file; null while another
 * connection has it open. Foreign keys are off. Leaving WAL mode requires exclusive access, so SQLite itself detects
 * other connections. */
export function openAlone(path: string): DatabaseSync | null {
  const db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false });
  try {
    db.exec("PRAGMA journal_mode = DELETE");
    return db;
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

/** The error for an action that needs exclusive access and cannot get it now. */
export function notAlone(action: string, path: string): StoreError {
  return new StoreError(`Cannot ${action} ${path}: another process is using it, end that and try again`, "busy");
}

/** A function that closes a database the first time it is called: before its file is replaced where the system asks for
 * that, and afterwards elsewhere. */
export function closeOnce(db: DatabaseSync): () => void {
  const open = new Set([db]);
  return () => {
    if (open.delete(db)) db.close();
  };
}

const LOGS = ["-wal", "-shm"] as const;

/** The files of an open database: whether those at its path are still the ones that are open. SQLite keeps writing to
 * files that were removed or renamed, and whoever opens the path afterwards does not find what it wrote. */
export class OpenFiles {
  readonly #path: string;
  readonly #database: string;
  #logs: readonly (readonly [path: string, identity: string])[] = [];

  /** The file that is about to be opened: a replacement during opening is detected too. */
  constructor(path: string) {
    this.#path = path;
    this.#database = identityOf(path);
  }

  /** Call it once the log files exist. They are next to the file that a link leads to. */
  opened(): void {
    const real = Deno.realPathSync(this.#path);
    this.#logs = LOGS.map((suffix) => [`${real}${suffix}`, identityOf(`${real}${suffix}`)]);
  }

  /** What happened to the files and what to do; "" if they are unchanged. */
  fault(): string {
    const now = identityOf(this.#path);
    if (now === "") {
      return "it was removed or renamed while it was in use, and what was written since then is not at this path; " +
        "put that file back under its name, or start again";
    }
    if (now !== this.#database) {
      return "another file took its place while it was in use, and what was written since then is not in that file; " +
        "start again to use it";
    }
    if (this.#logs.every(([path, identity]) => identityOf(path) === identity)) return "";
    return "its log (-wal or -shm) was removed or replaced while it was in use, and what was written since then may " +
      "be lost; end every process that uses it, then see what vis db check says";
  }

  /** Throws `StoreError` if something happened to the files. */
  check(): void {
    const fault = this.fault();
    if (fault !== "") throw new StoreError(`Cannot use database ${this.#path}: ${fault}`, "moved");
  }
}

/** "" if nothing exists at a path. */
function identityOf(path: string): string {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return "";
  }
}

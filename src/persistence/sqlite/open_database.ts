import { OUR_TABLE } from "./migrate.ts";
import { Buffer } from "node:buffer";
import { chmod, type FileHandle, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { migrations } from "../../../migrations/mod.ts";
import { StoreError, UsageError } from "../../domain/errors.ts";
import { ensureFile, ensureFolder } from "../../domain/kit/files.ts";
import { type FoundSchema, foundSchema, migrate, schemaProblems } from "./migrate.ts";
import { damaged, isBusy } from "./sqlite_error.ts";

/** A statement outside of a transaction waits at most this long for a lock. */
const BUSY_MS = 50;

interface OpenDatabase {
  readonly db: DatabaseSync;
  readonly files: OpenFiles | null;
}

export async function openDatabase(path: string, now: () => number): Promise<OpenDatabase> {
  if (path !== ":memory:") {
    await prepareDatabaseFile(path);
    await refuseDamagedFile(path);
  }
  // The last connection removes the log when it closes, so a log may come from a killed process.
  const isLeft = path !== ":memory:" && await stat(`${path}-wal`).then(({ size }) => size > 0, () => false);
  const files = path === ":memory:" ? null : new OpenFiles(path);
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    // Vis must not change the mode or the journal of another program's file.
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

/** Another process may be migrating the database, so the check reads one snapshot. */
function refuseOther(db: DatabaseSync, path: string): void {
  db.exec("BEGIN");
  try {
    refuseOtherSchema(db, { schema: foundSchema(db, { files: migrations, path }), path });
  } finally {
    db.exec("ROLLBACK");
  }
}

/** SQLite leaves WAL mode only if no other process uses the database, and the log is then left over. */
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

const WAIT_MS = 5_000;

interface ExistingDatabase {
  readonly db: DatabaseSync;
  readonly schema: FoundSchema;
}

export async function openExisting(path: string, action: string): Promise<ExistingDatabase> {
  if (path === ":memory:") {
    throw new UsageError(`Cannot ${action} a database in memory: it has no file; name a file with --db`);
  }
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  if (found === null) throw new UsageError(`Cannot ${action} ${path}: the file does not exist; name another file`);
  if (!found.isFile()) throw new UsageError(`Cannot ${action} ${path}: it is not a regular file; name another file`);
  await refuseDamagedFile(path);
  const db = new DatabaseSync(path, { timeout: WAIT_MS, enableForeignKeyConstraints: true });
  try {
    const schema = foundSchema(db, { files: migrations, path });
    if (schema.version === 0) {
      throw new UsageError(`Cannot ${action} ${path}: it is not a database of Vis; name another file`);
    }
    return { db, schema };
  } catch (error) {
    db.close();
    throw error;
  }
}

const MODE = 0o600;

async function prepareDatabaseFile(path: string): Promise<void> {
  await ensureFolder(dirname(path));
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return await ensureFile(path, { mode: MODE });
  if (found.isDirectory()) {
    throw new StoreError(
      `Cannot use database ${path}: it is a folder; choose a file with --db`,
      "unavailable",
    );
  }
  if (!found.isFile()) {
    throw new StoreError(
      `Cannot use database ${path}: it is not a regular file; choose another file with --db`,
      "unavailable",
    );
  }
  // Root ignores permission bits, so SQLite would not refuse the file for root.
  if ((found.mode & 0o200) === 0) {
    throw new StoreError(
      `Cannot use database ${path}: it is read-only; make the file writable, or choose another file with --db`,
      "readonly",
    );
  }
}

/** Only the owner of a file and root can change its mode. */
async function protectDatabaseFile(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) await chmod(path, MODE).catch(() => undefined);
}

/** This process must have no connection to the database: closing the file here would release its locks. */
async function refuseDamagedFile(path: string): Promise<void> {
  const what = await headerDamage(path) ?? await logDamage(path);
  if (what !== null) throw damaged(path, { what });
}

function refuseOtherSchema(
  db: DatabaseSync,
  { schema, path }: { readonly schema: FoundSchema; readonly path: string },
): void {
  const [what] = schemaProblems(db, schema);
  if (what !== undefined) throw damaged(path, { what });
}

/** Foreign keys are off. Returns null if another connection uses the database. Until the result is closed, no other
 * connection can begin to. */
export function openAlone(path: string): DatabaseSync | null {
  const db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false });
  try {
    db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; COMMIT");
    return db;
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

export function notAlone(action: string, path: string): StoreError {
  return new StoreError(
    `Cannot ${action} ${path}: another process is using it; end that process and try again`,
    "busy",
  );
}

export function closeOnce(db: DatabaseSync): () => void {
  const open = new Set([db]);
  return () => {
    if (open.delete(db)) db.close();
  };
}

const LOGS = ["-wal", "-shm"] as const;

/** SQLite continues to write to a removed or replaced file. Later readers of the path do not see these writes. */
export class OpenFiles {
  readonly #path: string;
  readonly #database: string;
  #logs: readonly (readonly [path: string, identity: string])[] = [];

  /** The caller must create the instance before it opens the file, so that the instance notices a replacement during
   * the opening. */
  constructor(path: string) {
    this.#path = path;
    this.#database = identityOf(path);
  }

  /** SQLite has already created the log files, next to the file to which a link leads. */
  opened(): void {
    const real = Deno.realPathSync(this.#path);
    this.#logs = LOGS.map((suffix) => [`${real}${suffix}`, identityOf(`${real}${suffix}`)]);
  }

  fault(): string {
    const now = identityOf(this.#path);
    if (now === "") {
      return "the file was removed or renamed while it was in use, so later changes are not at this path; restore " +
        "its name, or start again";
    }
    if (now !== this.#database) {
      return "another file took its place while it was in use, so later changes are not in that file; start again " +
        "to use it";
    }
    if (this.#logs.every(([path, identity]) => identityOf(path) === identity)) return "";
    return "its log (-wal or -shm) was removed or replaced while it was in use, so later changes may be lost; " +
      "end every process that uses the database, then run vis db check";
  }

  check(): void {
    const fault = this.fault();
    if (fault !== "") throw new StoreError(`Cannot use database ${this.#path}: ${fault}`, "moved");
  }
}

function identityOf(path: string): string {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return "";
  }
}

const HEADER_BYTES = 100;
const BEGIN_BYTES = 64 * 1024;
const MAGIC = "SQLite format 3\0";

interface Begin {
  readonly size: number;
  readonly header: Buffer;
}

/** Returns null for a sound header, and for a file that is no database of Vis. */
export async function headerDamage(path: string): Promise<string | null> {
  const file = await open(path, "r");
  try {
    for (;;) {
      const read = await readBegin(file);
      if (read.header.length < HEADER_BYTES) return null;
      const what = damageOf(read.header) ?? (await isLogged(path) ? null : lengthDamage(read));
      if (what === null || !(await readBytes(file, { from: 0, length: BEGIN_BYTES })).includes(OUR_TABLE)) return null;
      // Another process may have written after the first read, for example the first tables of a new database.
      const again = await readBegin(file);
      if (again.size !== read.size || !again.header.equals(read.header)) continue;
      return what;
    }
  } finally {
    await file.close();
  }
}

async function readBegin(file: FileHandle): Promise<Begin> {
  return { size: (await file.stat()).size, header: await readBytes(file, { from: 0, length: HEADER_BYTES }) };
}

/** All databases of Vis have these values in the header (https://www.sqlite.org/fileformat.html). */
function damageOf(header: Buffer): string | null {
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) return "its header does not begin like a database";
  if (header.readUInt16BE(16) !== 4096) return "the page size in its header is not 4096";
  const versions = header.readUInt16BE(18);
  if (versions !== 0x0101 && versions !== 0x0202) return "the journal mode in its header is unknown";
  if (header.readUInt32BE(20) !== 0x00402020) return "the page layout in its header is unknown";
  if (header.readUInt32BE(44) !== 4) return "the schema format in its header is not 4";
  if (header.readUInt32BE(56) !== 1) return "the text encoding in its header is not UTF-8";
  const empty = [...header.subarray(52, 56), ...header.subarray(60, 92)].every((byte) => byte === 0);
  return empty ? null : "its header has settings that no database of Vis has";
}

/** If the log is empty, the header contains the number of pages of the file. */
function lengthDamage({ header, size }: Begin): string | null {
  const counted = header.readUInt32BE(24) === header.readUInt32BE(92);
  return counted && header.readUInt32BE(28) * 4096 !== size ? "its length differs from the length in its header" : null;
}

async function isLogged(path: string): Promise<boolean> {
  const log = await open(`${path}-wal`, "r").catch(() => null);
  if (log === null) return false;
  return await log.stat().then(({ size }) => size > 0).finally(() => log.close());
}

interface Gap {
  readonly frame: number;
  readonly bytes: Buffer;
}

/** https://www.sqlite.org/walformat.html defines both sizes. */
const LOG_HEADER_BYTES = 32, FRAME_BYTES = 24;
const FRAMES_AT_ONCE = 256;

interface Header {
  readonly bytes: Buffer;
  readonly bigEndian: boolean;
  readonly pageBytes: number;
}

type Checksum = readonly [number, number];

/** For SQLite, a frame with a wrong checksum ends the log, and later data would be lost. Damage that no complete
 * transaction follows does not count: an interrupted write looks the same. */
async function logDamage(path: string): Promise<string | null> {
  const file = await open(`${path}-wal`, "r").catch(() => null);
  if (file === null) return null;
  try {
    for (;;) {
      const header = await readHeader(file);
      if (header === null) return null;
      const gap = isWhole(header) ? await firstGap(file, header) : { frame: -1, bytes: header.bytes };
      if (gap === null) return null;
      // Another process may have restarted the log, or may still be writing it, so Vis reads the place again.
      if (!await isStill(file, { header, gap })) continue;
      const what = gap.frame < 0
        ? `the header of ${path}-wal is not valid`
        : `frame ${gap.frame + 1} of ${path}-wal is not valid, and a complete transaction follows it`;
      return what;
    }
  } finally {
    await file.close();
  }
}

async function isStill(
  file: FileHandle,
  { header, gap }: { readonly header: Header; readonly gap: Gap },
): Promise<boolean> {
  if (!(await readHeader(file))?.bytes.equals(header.bytes)) return false;
  if (gap.frame < 0) return true;
  const size = FRAME_BYTES + header.pageBytes;
  return (await readBytes(file, { from: LOG_HEADER_BYTES + gap.frame * size, length: size })).equals(gap.bytes);
}

async function readHeader(file: FileHandle): Promise<Header | null> {
  const bytes = await readBytes(file, { from: 0, length: LOG_HEADER_BYTES });
  if (bytes.length < LOG_HEADER_BYTES || (await file.stat()).size < LOG_HEADER_BYTES + FRAME_BYTES) return null;
  return { bytes, bigEndian: (bytes.readUInt32BE(0) & 1) === 1, pageBytes: bytes.readUInt32BE(8) };
}

function isWhole({ bytes, bigEndian, pageBytes }: Header): boolean {
  const [one, two] = checksum(bytes.subarray(0, 24), { bigEndian, from: [0, 0] });
  return one === bytes.readUInt32BE(24) && two === bytes.readUInt32BE(28) && pageBytes >= 512 && pageBytes <= 65536;
}

/** Returns the first invalid frame if a valid commit frame of the same log follows it. */
async function firstGap(file: FileHandle, { bytes: header, bigEndian, pageBytes }: Header): Promise<Gap | null> {
  const size = FRAME_BYTES + pageBytes;
  const salts = header.subarray(16, 24);
  let before: Checksum = [header.readUInt32BE(24), header.readUInt32BE(28)];
  let gap: Gap | null = null;
  for (let at = 0;; at += FRAMES_AT_ONCE) {
    const frames = await readBytes(file, { from: LOG_HEADER_BYTES + at * size, length: FRAMES_AT_ONCE * size });
    for (let start = 0; start + size <= frames.length; start += size) {
      const bytes = frames.subarray(start, start + size);
      const stored: Checksum = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
      const whole = bytes.subarray(8, 16).equals(salts) && isOf(bytes, { bigEndian, before, stored });
      before = stored;
      if (!whole) gap ??= { frame: at + start / size, bytes };
      else if (gap !== null && bytes.readUInt32BE(4) !== 0) return gap;
    }
    if (frames.length < FRAMES_AT_ONCE * size) return null;
  }
}

function isOf(
  frame: Buffer,
  { bigEndian, before, stored }: { readonly bigEndian: boolean; readonly before: Checksum; readonly stored: Checksum },
): boolean {
  const head = checksum(frame.subarray(0, 8), { bigEndian, from: before });
  const [one, two] = checksum(frame.subarray(FRAME_BYTES), { bigEndian, from: head });
  return one === stored[0] && two === stored[1];
}

function checksum(
  bytes: Buffer,
  { bigEndian, from }: { readonly bigEndian: boolean; readonly from: Checksum },
): Checksum {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [one, two] = from;
  for (let at = 0; at < view.byteLength; at += 8) {
    one = (one + view.getUint32(at, !bigEndian) + two) | 0;
    two = (two + view.getUint32(at + 4, !bigEndian) + one) | 0;
  }
  return [one >>> 0, two >>> 0];
}

async function readBytes(
  file: FileHandle,
  { from, length }: { readonly from: number; readonly length: number },
): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

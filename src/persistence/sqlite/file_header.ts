import type { Buffer } from "node:buffer";
import { type FileHandle, open } from "node:fs/promises";
import { readBytes } from "./read_bytes.ts";

const HEADER_BYTES = 100;
/** This much of a file is searched for a name that only a Vis database contains. */
const BEGIN_BYTES = 64 * 1024;
const MAGIC = "SQLite format 3\0";
const OUR_TABLE = "conversation_soul";

interface Begin {
  /** Size of the file. */
  readonly size: number;
  readonly header: Buffer;
}

/** Describes damage in the first bytes of a Vis database that would make SQLite take it for something else: a file of
 * another program, one that cannot be written, or one in another encoding. Null if there is no such damage, and for
 * other files. */
export async function headerDamage(path: string): Promise<string | null> {
  const file = await open(path, "r");
  try {
    for (;;) {
      const read = await readBegin(file);
      if (read.header.length < HEADER_BYTES) return null;
      const what = damageOf(read.header) ?? (await isLogged(path) ? null : lengthDamage(read));
      if (what === null || !(await readBytes(file, { from: 0, length: BEGIN_BYTES })).includes(OUR_TABLE)) return null;
      // Another process may have written in the meantime, for example the first tables of a new database.
      const again = await readBegin(file);
      if (again.size !== read.size || !again.header.equals(read.header)) continue;
      return `the header of the file is damaged: ${what}`;
    }
  } finally {
    await file.close();
  }
}

async function readBegin(file: FileHandle): Promise<Begin> {
  return { size: (await file.stat()).size, header: await readBytes(file, { from: 0, length: HEADER_BYTES }) };
}

/** Checks the header fields (https://www.sqlite.org/fileformat.html) for the values that they have in every database
 * that Vis makes. */
function damageOf(header: Buffer): string | null {
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) return "it does not begin as a database";
  if (header.readUInt16BE(16) !== 4096) return "its pages have another size";
  const versions = header.readUInt16BE(18);
  if (versions !== 0x0101 && versions !== 0x0202) return "its journal is of no known kind";
  if (header.readUInt32BE(20) !== 0x00402020) return "its pages are divided otherwise";
  if (header.readUInt32BE(44) !== 4) return "its schema has another format";
  if (header.readUInt32BE(56) !== 1) return "its texts have another encoding";
  // Auto-vacuum, user version, application id, and the bytes reserved for expansion.
  const empty = [...header.subarray(52, 56), ...header.subarray(60, 92)].every((byte) => byte === 0);
  return empty ? null : "it has settings that no database of Vis has";
}

/** If the log is empty, the file has as many pages as its header states. */
function lengthDamage({ header, size }: Begin): string | null {
  const counted = header.readUInt32BE(24) === header.readUInt32BE(92);
  return counted && header.readUInt32BE(28) * 4096 !== size ? "it has another length than it says" : null;
}

async function isLogged(path: string): Promise<boolean> {
  const log = await open(`${path}-wal`, "r").catch(() => null);
  if (log === null) return false;
  return await log.stat().then(({ size }) => size > 0).finally(() => log.close());
}

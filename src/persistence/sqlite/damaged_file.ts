import { Buffer } from "node:buffer";
import { type FileHandle, open } from "node:fs/promises";

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

interface Gap {
  /** 0-based; -1 for the header. */
  readonly frame: number;
  readonly bytes: Buffer;
}

/** See https://www.sqlite.org/walformat.html. */
const LOG_HEADER_BYTES = 32, FRAME_BYTES = 24;
const FRAMES_AT_ONCE = 256;

interface Header {
  readonly bytes: Buffer;
  readonly bigEndian: boolean;
  readonly pageBytes: number;
}

type Checksum = readonly [number, number];

/** Where the write-ahead log next to a database is damaged; null if it is not, or does not exist. SQLite takes a frame
 * with a wrong checksum for the end of the log, so everything stored after it would be dropped silently. A last
 * transaction whose last frame is damaged is ignored, since a write cut off by a power failure looks the same. */
export async function logDamage(path: string): Promise<string | null> {
  const file = await open(`${path}-wal`, "r").catch(() => null);
  if (file === null) return null;
  try {
    for (;;) {
      const header = await readHeader(file);
      if (header === null) return null;
      const gap = isWhole(header) ? await firstGap(file, header) : { frame: -1, bytes: header.bytes };
      if (gap === null) return null;
      // Another process may have written in the meantime: a log that it has restarted or not yet finished is not
      // damaged.
      if (!await isStill(file, { header, gap })) continue;
      const what = gap.frame < 0 ? "its header" : `frame ${gap.frame + 1}`;
      return `${path}-wal: ${what} is not what was written, and transactions follow it`;
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

/** The frame with a wrong checksum that is followed by the end of a transaction of the same log. */
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

/** These bytes of a file; fewer at its end. */
async function readBytes(
  file: FileHandle,
  { from, length }: { readonly from: number; readonly length: number },
): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

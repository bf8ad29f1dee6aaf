import type { Buffer } from "node:buffer";
import { type FileHandle, open } from "node:fs/promises";
import { readBytes } from "./read_bytes.ts";

interface Gap {
  /** 0-based; -1 for the header. */
  readonly frame: number;
  readonly bytes: Buffer;
}

/** See https://www.sqlite.org/walformat.html. */
const HEADER_BYTES = 32, FRAME_BYTES = 24;
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
  return (await readBytes(file, { from: HEADER_BYTES + gap.frame * size, length: size })).equals(gap.bytes);
}

async function readHeader(file: FileHandle): Promise<Header | null> {
  const bytes = await readBytes(file, { from: 0, length: HEADER_BYTES });
  if (bytes.length < HEADER_BYTES || (await file.stat()).size < HEADER_BYTES + FRAME_BYTES) return null;
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
    const frames = await readBytes(file, { from: HEADER_BYTES + at * size, length: FRAMES_AT_ONCE * size });
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

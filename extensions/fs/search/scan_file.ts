import { decodeText } from "@vis/extension";
import type { Pace } from "../../../src/extension/spec.ts";
import type { OpenFile, Tree } from "../tree/tree.ts";

export type ScanOutcome = "searched" | "binary" | "unreadable";

interface ScanOptions {
  /** Of `PIECE_BYTES` and one more; used again for each file. */
  readonly buffer: Uint8Array<ArrayBuffer>;
  readonly pace: Pace;
  /** Receives text that is cut at line endings, the last one possibly empty. Returns false once it needs no more. */
  readonly take: (text: string, isLast: boolean) => Promise<boolean>;
}

/** As much as `fs.readFile` reads whole, so that both see the encoding of a file by the same bytes. Pieces of a larger
 * file are decoded one by one, like the lines that are read of it. */
export const PIECE_BYTES = 1024 * 1024;
/** Enough to see whether characters have two bytes. */
const HEAD_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;
const LINE_FEED = 10;

/** Reads the text of a file in pieces of whole lines. An unreadable file is skipped. */
export async function scanFile(tree: Tree, path: string, { buffer, pace, take }: ScanOptions): Promise<ScanOutcome> {
  let file: OpenFile;
  try {
    file = tree.open(path);
  } catch {
    return "unreadable";
  }
  using opened = file;
  let wide: string | undefined;
  let used = 0;
  for (let first = true;; first = false) {
    let isLast = false;
    while (!isLast && used < buffer.length) {
      if (pace.due) await pace.rest();
      const into = buffer.subarray(used, used + READ_BYTES);
      const count = readOr(opened, into);
      if (count === null) return "unreadable";
      used += count;
      // A read that stops where the file ended when it was opened needs no further one to prove it.
      isLast = count === 0 || first && count < into.length && used === opened.facts.size;
    }
    const bytes = buffer.subarray(0, used);
    if (first && !isLast) wide = wideEncodingOf(bytes);
    const piece = isLast ? bytes : bytes.subarray(0, endOfLines(bytes, wide));
    const decoded = decodeText(piece, wide);
    if (first && decoded === null) return "binary";
    if (!await take(decoded?.text ?? new TextDecoder().decode(piece), isLast) || isLast) return "searched";
    buffer.copyWithin(0, piece.length, used);
    used -= piece.length;
  }
}

/** Null if the system cannot read the file, such as a damaged one and many of /proc. */
function readOr(file: OpenFile, into: Uint8Array<ArrayBuffer>): number | null {
  try {
    return file.read(into);
  } catch {
    return null;
  }
}

function wideEncodingOf(bytes: Uint8Array): string | undefined {
  const { encoding = "" } = decodeText(bytes.subarray(0, HEAD_BYTES)) ?? {};
  return encoding.startsWith("utf-16") ? encoding : undefined;
}

/** Where the last line in some bytes ends. A longer line is cut between two characters. */
function endOfLines(bytes: Uint8Array, wide: string | undefined): number {
  if (wide === undefined) {
    const end = bytes.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) return end;
    let cut = bytes.length;
    while (cut > bytes.length - 4 && ((bytes[cut - 1] ?? 0) & 0xc0) === 0x80) cut--;
    return (bytes[cut - 1] ?? 0) < 0x80 ? bytes.length : cut - 1;
  }
  const isLittle = wide === "utf-16le";
  for (let at = bytes.length & ~1; at >= 2; at -= 2) {
    if (bytes[isLittle ? at - 2 : at - 1] === LINE_FEED && bytes[isLittle ? at - 1 : at - 2] === 0) return at;
  }
  return bytes.length & ~1;
}

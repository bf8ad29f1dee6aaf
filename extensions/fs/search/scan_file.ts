import type { Pace } from "../tree/pace.ts";
import { isBinary } from "../tree/text_bytes.ts";
import type { OpenFile, Tree } from "../tree/tree.ts";

export type ScanOutcome = "searched" | "binary" | "unreadable";

interface ScanOptions {
  /** Maximum bytes per piece. */
  readonly chunk: number;
  readonly pace: Pace;
  /** Receives pieces that are cut at line endings, the last one possibly empty. Each has its own buffer, which may be
   * kept or passed on. Returns false once it needs no more. */
  readonly take: (bytes: Uint8Array<ArrayBuffer>, isLast: boolean) => Promise<boolean>;
}

const LINE_FEED = 10;
/** Longer lines are cut here. */
const MAX_LINE = 64 * 1024;

/** Reads a file in pieces of whole lines. An unreadable file is skipped. */
export async function scanFile(tree: Tree, path: string, { chunk, pace, take }: ScanOptions): Promise<ScanOutcome> {
  let file: OpenFile;
  try {
    file = tree.open(path);
  } catch {
    return "unreadable";
  }
  using opened = file;
  let buffer = new Uint8Array(Math.min(chunk + MAX_LINE, opened.facts.size + 1));
  let used = 0;
  for (let first = true;; first = false) {
    if (pace.due) await pace.rest();
    if (used === buffer.length) buffer = larger(buffer);
    const count = readOr(opened, buffer.subarray(used, Math.min(buffer.length, used + chunk)));
    if (count === null) return "unreadable";
    if (first && isBinary(buffer.subarray(0, count))) return "binary";
    used += count;
    if (count === 0) break;
    const whole = wholeLines(buffer.subarray(0, used));
    if (whole === 0) continue;
    const rest = buffer.slice(whole, used);
    const piece = buffer.subarray(0, whole);
    buffer = new Uint8Array(Math.max(buffer.length, rest.length + 1));
    buffer.set(rest);
    used = rest.length;
    if (!await take(piece, false)) return "searched";
  }
  await take(buffer.subarray(0, used), true);
  return "searched";
}

/** Null if the system cannot read the file, such as a damaged one and many of /proc. */
function readOr(file: OpenFile, into: Uint8Array<ArrayBuffer>): number | null {
  try {
    return file.read(into);
  } catch {
    return null;
  }
}

/** Where the last line in some bytes ends; 0 if none does. */
function wholeLines(bytes: Uint8Array): number {
  const end = bytes.lastIndexOf(LINE_FEED) + 1;
  return end === 0 && bytes.length >= MAX_LINE ? bytes.length : end;
}

function larger(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(bytes.length + MAX_LINE);
  copy.set(bytes);
  return copy;
}

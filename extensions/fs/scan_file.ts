import type { LineScanner } from "./line_scanner.ts";
import type { Pace } from "./pace.ts";
import { isBinary } from "./text_bytes.ts";
import type { OpenFile, Tree } from "./tree.ts";

const CHUNK = 256 * 1024;
const MAX_LINE = 64 * 1024;

/** Hands the text of a file to a scanner, in pieces that are cut at line ends; a line longer than 64 K characters is cut
 * there. A file that cannot be read is passed over. */
export async function scanFile(
  tree: Tree,
  path: string,
  { scanner, pace }: { readonly scanner: LineScanner; readonly pace: Pace },
): Promise<"searched" | "binary" | "unreadable"> {
  let file: OpenFile;
  try {
    file = tree.open(path);
  } catch {
    return "unreadable";
  }
  using opened = file;
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(Math.min(CHUNK, opened.facts.size + 1));
  let carry = "";
  for (let first = true;; first = false) {
    if (pace.due) await pace.rest();
    const count = opened.read(buffer);
    if (count === 0) break;
    const bytes = buffer.subarray(0, count);
    if (first && isBinary(bytes)) return "binary";
    const text = carry + decoder.decode(bytes, { stream: true });
    const end = text.lastIndexOf("\n") + 1;
    const whole = end === 0 && text.length > MAX_LINE ? text.length : end;
    carry = text.slice(whole);
    if (whole > 0 && !await scanner.push(text.slice(0, whole), pace)) return "searched";
  }
  await scanner.push(carry + decoder.decode(), pace);
  return "searched";
}

import type { LineScanner } from "./line_scanner.ts";
import type { Pace } from "./pace.ts";
import { isBinary } from "./text_bytes.ts";

const SMALL = 256 * 1024;
const MAX_LINE = 1024 * 1024;

/** Hands the text of a file to a scanner. A small file is read synchronously, which takes a tenth of the time of the
 * asynchronous way; a larger one is streamed. A file that cannot be read is passed over. */
export async function scanFile(
  absolute: string,
  { scanner, pace }: { readonly scanner: LineScanner; readonly pace: Pace },
): Promise<"searched" | "binary" | "unreadable"> {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(absolute, { read: true });
  } catch {
    return "unreadable";
  }
  using opened = file;
  const { size, isFile } = opened.statSync();
  if (!isFile) return "unreadable";
  if (size > SMALL) return await scanLarge(opened, { scanner, pace });
  const bytes = new Uint8Array(size);
  let used = 0;
  for (let count: number | null = 0; count !== null && used < size; used += count ?? 0) {
    count = opened.readSync(bytes.subarray(used));
  }
  if (isBinary(bytes)) return "binary";
  await scanner.push(new TextDecoder().decode(bytes.subarray(0, used)), pace);
  return "searched";
}

/** Pieces are cut at line ends; a line longer than a megabyte is cut there. */
async function scanLarge(
  file: Deno.FsFile,
  { scanner, pace }: { readonly scanner: LineScanner; readonly pace: Pace },
): Promise<"searched" | "binary"> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(SMALL);
  let carry = "";
  for (let first = true;; first = false) {
    await pace.rest();
    const count = await file.read(buffer);
    if (count === null) break;
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

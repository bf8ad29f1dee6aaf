import { confine, confineForWrite, type Place } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { currentBytes, MAX_WRITE } from "./current_file.ts";
import { rememberFile } from "./read_place.ts";
import { replaceFiles } from "./replace_files.ts";
import { sizeText } from "./size_text.ts";
import { decodeText } from "./text_bytes.ts";
import { unifiedDiff } from "./unified_diff.ts";

export interface Written {
  readonly path: string;
  readonly bytes: number;
  /** Unified diff against what was there; "" where nothing changed. */
  readonly diff: string;
}

/** Creates a file, folders included, or replaces its text. */
export async function writeFile(
  context: FsContext,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<Written> {
  const place = await confineForWrite(context.root, path);
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_WRITE) {
    throw new RangeError(`Cannot write ${place.path}: ${sizeText(bytes.length)} is over 16 MB`);
  }
  const before = await currentBytes(context, place);
  context.signal?.throwIfAborted();
  await replaceFiles([{ place, bytes, before }]);
  await rememberWritten(context, { place, bytes });
  return { path: place.path, bytes: bytes.length, diff: diffOf(place.path, { before, text }) };
}

/** The model knows what it wrote. */
export async function rememberWritten(
  context: FsContext,
  { place, bytes }: { readonly place: Place; readonly bytes: Uint8Array },
): Promise<void> {
  const { info } = await confine(context.root, place.path);
  if (info) await rememberFile(context, { place, bytes, lossy: false, info });
}

function diffOf(
  path: string,
  { before, text }: { readonly before: Uint8Array | null; readonly text: string },
): string {
  const old = before === null ? null : decodeText(before);
  if (old?.lossy) return `Binary file ${path} replaced\n`;
  return unifiedDiff(path, { before: old?.text ?? null, after: text });
}

import type { Place } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { openFile, readWhole } from "./read_place.ts";
import { sizeText } from "./size_text.ts";
import { hashOf } from "./text_bytes.ts";

/** The largest file that is written over or edited, in bytes. */
export const MAX_WRITE = 16 * 1024 * 1024;

/** The bytes of a file about to be written, null where there is none. Throws Error where it is not what this
 * conversation last read. */
export async function currentBytes(context: FsContext, place: Place): Promise<Uint8Array<ArrayBuffer> | null> {
  if (place.info === null) return null;
  using file = await openFile(context, { place, action: "write" });
  const { size } = file.statSync();
  const bytes = await readWhole(file, { size, most: MAX_WRITE });
  if (bytes === null) throw new RangeError(`Cannot write ${place.path}: ${sizeText(place.info.size)} is over 16 MB`);
  const seen = context.ledger.find(context.conversationId, place.absolute);
  if (seen === null) return bytes;
  if (seen.lossy) {
    throw new Error(`Cannot write ${place.path}: it is not UTF-8, and what was read from it is not its bytes`);
  }
  const same = seen.hash === null
    ? seen.size === bytes.length && seen.mtime === (place.info.mtime?.getTime() ?? 0)
    : seen.hash === await hashOf(bytes);
  if (same) return bytes;
  throw new Error(
    `Cannot write ${place.path}: it changed on disk since it was read; read it again and redo the change`,
  );
}

import type { Place } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { missing } from "./missing.ts";
import { sizeText } from "./size_text.ts";
import { hashOf, isBinary } from "./text_bytes.ts";

/** The most text of one file that is returned at once, in bytes. */
export const MAX_TEXT = 1024 * 1024;

/** Opens a regular file that exists. Throws Error saying what is there instead. The caller closes it. */
export async function openFile(
  context: FsContext,
  { place, action }: { readonly place: Place; readonly action: string },
): Promise<Deno.FsFile> {
  if (place.info === null) throw await missing(context, { action, path: place.path });
  if (place.info.isDirectory) {
    throw new Error(
      `Cannot ${action} ${place.path}: it is a folder; fs.listFiles(${JSON.stringify(place.path)}) lists it`,
    );
  }
  if (!place.info.isFile) throw new Error(`Cannot ${action} ${place.path}: it is not a regular file`);
  try {
    return await Deno.open(place.absolute, { read: true });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw await missing(context, { action, path: place.path });
    throw new Error(`Cannot ${action} ${place.path}: permission denied`, { cause: error });
  }
}

/** A file that was just opened answers for so much faster than another thread could be asked. */
const AT_ONCE = 128 * 1024;

/** The bytes of a file of `size` bytes; null where it has more than `most` by now. */
export async function readWhole(
  file: Deno.FsFile,
  { size, most }: { readonly size: number; readonly most: number },
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (size > most) return null;
  const buffer = new Uint8Array(size + 1);
  let used = 0;
  while (used < buffer.length) {
    const room = buffer.subarray(used);
    const count = size <= AT_ONCE ? file.readSync(room) : await file.read(room);
    if (count === null) break;
    used += count;
  }
  return used <= size ? buffer.subarray(0, used) : null;
}

/** Throws Error naming a binary file as such. */
export function refuseBinary(
  bytes: Uint8Array,
  { place, action }: { readonly place: Place; readonly action: string },
): void {
  if (!isBinary(bytes)) return;
  throw new Error(`Cannot ${action} ${place.path}: binary file, ${sizeText(place.info?.size ?? bytes.length)}`);
}

/** Notes the state of a file that the model now knows. */
export async function rememberFile(
  context: FsContext,
  known: {
    readonly place: Place;
    readonly bytes: Uint8Array | null;
    readonly lossy: boolean;
    readonly info: Deno.FileInfo;
  },
): Promise<void> {
  context.ledger.remember(context.conversationId, known.place.absolute, {
    mtime: known.info.mtime?.getTime() ?? 0,
    size: known.info.size,
    hash: known.bytes === null ? null : await hashOf(known.bytes),
    lossy: known.lossy,
  });
}

import { movedMeanwhile, type WorkspacePath } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { missing } from "../workspace/missing.ts";
import { Pace } from "../tree/pace.ts";
import { sizeText } from "../tree/size_text.ts";
import { isBinary, sha256Of } from "../tree/text_bytes.ts";
import type { Facts, OpenFile } from "../tree/tree.ts";

/** Maximum text of one file that is returned at once, in bytes. */
export const MAX_READ_BYTES = 1024 * 1024;
const CHUNK = 1024 * 1024;

/** Opens an existing regular file. Throws Error that says what is there instead. The caller disposes of it. */
export async function openFile(
  context: FsContext,
  { place, action }: { readonly place: WorkspacePath; readonly action: string },
): Promise<OpenFile> {
  if (place.info === null) throw await missing(context, { action, path: place.path });
  if (place.info.kind === "dir") {
    throw new Error(
      `Cannot ${action} ${place.path}: it is a folder; fs.listFiles(${JSON.stringify(place.path)}) lists it`,
    );
  }
  if (place.info.kind !== "file") throw new Error(`Cannot ${action} ${place.path}: it is not a regular file`);
  try {
    return context.tree.open(place.real);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw await missing(context, { action, path: place.path });
    if (error instanceof Deno.errors.FilesystemLoop) throw movedMeanwhile(place.path);
    throw new Error(`Cannot ${action} ${place.path}: permission denied`, { cause: error });
  }
}

/** The bytes of a file of `size` bytes; null if it has grown beyond `most`. */
export async function readWhole(
  file: OpenFile,
  { size, most, signal }: { readonly size: number; readonly most: number; readonly signal: AbortSignal | undefined },
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (size > most) return null;
  const pace = new Pace(signal);
  const buffer = new Uint8Array(size + 1);
  let used = 0;
  while (used < buffer.length) {
    if (pace.due) await pace.rest();
    const count = file.read(buffer.subarray(used, used + CHUNK));
    if (count === 0) break;
    used += count;
  }
  return used <= size ? buffer.subarray(0, used) : null;
}

/** Throws Error for a binary file. */
export function refuseBinary(
  bytes: Uint8Array,
  { path, size = bytes.length, action }: { readonly path: string; readonly size?: number; readonly action: string },
): void {
  if (!isBinary(bytes)) return;
  throw new Error(`Cannot ${action} ${path}: binary file, ${sizeText(size)}`);
}

/** Records the state of a file that the model now knows. */
export function rememberFile(
  context: FsContext,
  known: {
    readonly place: WorkspacePath;
    readonly bytes: Uint8Array | null;
    readonly lossy: boolean;
    readonly info: Facts;
  },
): void {
  context.ledger.remember(context.conversationId, `${context.root}/${known.place.real}`, {
    mtime: known.info.modified,
    size: known.info.size,
    hash: known.bytes === null ? null : sha256Of(known.bytes),
    lossy: known.lossy,
  });
}

import { type DecodedText, reasonOf, type TextFormat } from "@vis/extension";
import type { WorkspacePath } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { encodeText, isExact } from "../encoding/text_format.ts";
import { knownEncoding, openFile, readWhole, textOf } from "../read/read_place.ts";
import { sizeText } from "../tree/size_text.ts";
import type { FileSnapshot } from "../checkpoints/snapshot.ts";
import { sha256Of } from "../tree/sha256_of.ts";
import type { Facts } from "../tree/tree.ts";

/** Maximum size in bytes of a file that is overwritten or edited. */
export const MAX_WRITE = 16 * 1024 * 1024;

export interface CurrentFile extends FileSnapshot {
  readonly seen: Facts;
}

/** A file about to be changed; null if there is none. Throws Error if it differs from what this conversation last read. */
export async function currentFile(
  context: FsContext,
  place: WorkspacePath,
  { action = "write", most = MAX_WRITE }: { readonly action?: string; readonly most?: number } = {},
): Promise<CurrentFile | null> {
  if (place.info === null) return null;
  using file = await openFile(context, { place, action });
  const { size, mode, uid, gid, modified } = file.facts;
  const bytes = await readWhole(file, { size, most, signal: context.signal });
  if (bytes === null) {
    throw new RangeError(`Cannot ${action} ${place.path}: ${sizeText(size)} is over ${most / 1024 / 1024} MB`);
  }
  const current: CurrentFile = {
    kind: "file",
    bytes,
    mode,
    owner: { uid, gid },
    attributes: file.attributes(),
    seen: file.facts,
  };
  const known = context.ledger.find(context.conversationId, `${context.root}/${place.real}`);
  if (known === null) return current;
  if (known.lossy && action === "write") {
    throw new Error(
      `Cannot write ${place.path}: it is not ${known.encoding ?? "UTF-8"} and was read with replacement characters; ` +
        "read it with {encoding} first",
    );
  }
  const same = known.hash === null
    ? known.size === bytes.length && known.mtime === modified
    : await known.hash === await sha256Of(bytes);
  if (same) return current;
  throw new Error(
    `Cannot ${action} ${place.path}: it changed on disk since it was read; read it again and redo the change`,
  );
}

/** The text of a file about to be changed. Throws Error for a binary file, and for one that would not be the same if
 * its text was written back. */
export function currentText(
  context: FsContext,
  bytes: Uint8Array,
  { place, action, encoding }: {
    readonly place: Pick<WorkspacePath, "path" | "real">;
    readonly action: string;
    readonly encoding?: string | undefined;
  },
): DecodedText {
  const known = encoding ?? knownEncoding(context, place);
  const decoded = textOf(context, bytes, { place, action, encoding: known });
  if (isExact(bytes, decoded)) return decoded;
  throw new Error(
    `Cannot ${action} ${place.path}: it is not all ${decoded.encoding}, so that bytes would be lost; ` +
      `fs.readFile(path, {encoding: "windows-1252"}) reads each byte as a character, and changes then keep the others`,
  );
}

/** The bytes of a changed text. Throws Error that names the first character that the file's encoding does not have. */
export function newBytes(
  text: string,
  format: TextFormat,
  { path, action }: { readonly path: string; readonly action: string },
): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = encodeText(text, format);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Error(
      `Cannot ${action} ${path}: ${
        reasonOf(error)
      }; fs.writeFile(path, text, {encoding: "utf-8"}) writes all of it as UTF-8`,
    );
  }
  if (bytes.length <= MAX_WRITE) return bytes;
  throw new RangeError(`Cannot ${action} ${path}: ${sizeText(bytes.length)} is over 16 MB`);
}

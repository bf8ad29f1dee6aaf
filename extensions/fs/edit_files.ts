import { confineForWrite, type Place } from "./confine.ts";
import type { FsContext } from "./context.ts";
import { currentBytes } from "./current_file.ts";
import { missing } from "./missing.ts";
import { refuseBinary } from "./read_place.ts";
import { replaceFiles } from "./replace_files.ts";
import { type Edit, replaceText } from "./replace_text.ts";
import { decodeText } from "./text_bytes.ts";
import { unifiedDiff } from "./unified_diff.ts";
import { rememberWritten, type Written } from "./write_file.ts";

export interface FileEdit extends Edit {
  readonly path: string;
}

interface Draft {
  readonly place: Place;
  readonly before: Uint8Array<ArrayBuffer>;
  readonly old: string;
  text: string;
}

/** Exact replacements in one or more files, in order, all or none. One result per file. */
export async function editFiles(context: FsContext, edits: readonly FileEdit[]): Promise<Written[]> {
  const drafts = new Map<string, Draft>();
  for (const edit of edits) {
    const place = await confineForWrite(context.root, edit.path);
    const draft = drafts.get(place.absolute) ?? await draftOf(context, place);
    draft.text = replaceText(place.path, draft.text, edit);
    drafts.set(place.absolute, draft);
  }
  context.signal?.throwIfAborted();
  const written = [...drafts.values()].map((draft) => ({ ...draft, bytes: new TextEncoder().encode(draft.text) }));
  await replaceFiles(written);
  for (const { place, bytes } of written) await rememberWritten(context, { place, bytes });
  return written.map(({ place, bytes, old, text }) => ({
    path: place.path,
    bytes: bytes.length,
    diff: unifiedDiff(place.path, { before: old, after: text }),
  }));
}

async function draftOf(context: FsContext, place: Place): Promise<Draft> {
  const before = await currentBytes(context, place);
  if (before === null) throw await missing(context, { action: "edit", path: place.path });
  refuseBinary(before, { place, action: "edit" });
  const { text, lossy } = decodeText(before);
  if (lossy) throw new Error(`Cannot edit ${place.path}: it is not UTF-8`);
  return { place, before, old: text, text };
}

import type { TextFormat } from "@vis/extension";
import { changeFiles } from "./change_files.ts";
import { confineForWrite, type WorkspacePath } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { type CurrentFile, currentFile, currentText, MAX_WRITE, newBytes } from "./current_file.ts";
import { missing } from "../workspace/missing.ts";
import { Pace } from "../../../src/extension/spec.ts";
import { noteFaults } from "./note_faults.ts";
import { replaceText, type TextReplacement } from "../patch/replace_text.ts";
import { type Written, written } from "./written.ts";

export interface FileEdit extends TextReplacement {
  readonly path: string;
}

export interface EditOptions {
  /** Of all of the files, instead of the one in which they were read or that their bytes show. */
  readonly encoding?: string | undefined;
}

/** Size in bytes above which decoding is worth a pause of its own. */
const LARGE = 1024 * 1024;

const MAX_EDITS = 1_000;
/** Characters of all files together. */
const MAX_SUM = 2 * MAX_WRITE;

interface Draft {
  readonly place: WorkspacePath;
  readonly before: CurrentFile;
  readonly format: TextFormat;
  text: string;
}

/** Exact replacements in one or more files, in order, all or none. Returns one result per file. */
export async function editFiles(
  context: FsContext,
  edits: readonly FileEdit[],
  { encoding }: EditOptions = {},
): Promise<Written[]> {
  if (edits.length > MAX_EDITS) {
    throw new RangeError(
      `Cannot make ${edits.length} edits at once: at most ${MAX_EDITS}; write the whole file instead`,
    );
  }
  const drafts = new Map<string, Draft>();
  const pace = new Pace(context.signal);
  for (const edit of edits) {
    if (pace.due) await pace.rest();
    const place = confineForWrite(context, edit.path);
    const draft = drafts.get(place.real) ?? await draftOf(context, place, encoding);
    draft.text = await replaceText(draft.text, edit, { path: place.path, signal: context.signal });
    drafts.set(place.real, draft);
    refuseSum(drafts);
  }
  const items = [...drafts.values()].map(({ place, before, text, format }) => {
    const bytes = newBytes(text, format, { path: place.path, action: "edit" });
    const { path: named, real: path } = place;
    const { encoding } = format;
    const after = { ...before, bytes };
    return { path, named, before, after, seen: before.seen, encoding, encodingBefore: encoding };
  });
  await changeFiles(context, { change: "edit", items });
  const results: Written[] = [];
  for (const item of items) results.push(await written(context, item, item));
  await noteFaults(context, items);
  return results;
}

function refuseSum(drafts: ReadonlyMap<string, Draft>): void {
  let sum = 0;
  for (const { text } of drafts.values()) sum += text.length;
  if (sum > MAX_SUM) {
    throw new RangeError(`Cannot edit files of over 32 MB together: edit some of them, then the others`);
  }
}

async function draftOf(context: FsContext, place: WorkspacePath, encoding: string | undefined): Promise<Draft> {
  const before = await currentFile(context, place);
  if (before === null) throw await missing(context, { action: "edit", path: place.path });
  if (before.bytes.length > LARGE) await new Pace(context.signal).rest();
  const format = currentText(context, before.bytes, { place, action: "edit", encoding });
  return { place, before, format, text: format.text };
}

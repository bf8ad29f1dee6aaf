import { changeFiles } from "./change_files.ts";
import { confineForWrite } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { currentFile, MAX_WRITE } from "./current_file.ts";
import { sizeText } from "../tree/size_text.ts";
import { type Written, written } from "./written.ts";

/** Creates a file and its folders, or replaces its text. */
export async function writeFile(
  context: FsContext,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<Written> {
  const place = confineForWrite(context, path);
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > MAX_WRITE) {
    throw new RangeError(`Cannot write ${place.path}: ${sizeText(bytes.length)} is over 16 MB`);
  }
  const before = await currentFile(context, place);
  const after = { kind: "file", bytes, mode: before?.mode ?? null, owner: before?.owner ?? null } as const;
  const item = { path: place.real, before, after, seen: before?.seen ?? null };
  await changeFiles(context, { change: "writeFile", items: [item] });
  return await written(context, item, { named: place.path });
}

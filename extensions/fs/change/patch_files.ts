import { applyHunks } from "../patch/apply_hunks.ts";
import { changeFiles } from "./change_files.ts";
import { confineForWrite, type WorkspacePath } from "../workspace/confine.ts";
import type { FsContext } from "../workspace/context.ts";
import { currentFile, MAX_WRITE } from "./current_file.ts";
import { missing } from "../workspace/missing.ts";
import { parsePatch } from "../patch/parse_patch.ts";
import type { PatchPart } from "../patch/patch_part.ts";
import { refuseBinary } from "../read/read_place.ts";
import type { ChangeItem, FileSnapshot } from "../checkpoints/snapshot.ts";
import { decodeText } from "../tree/text_bytes.ts";
import { Pace } from "../tree/pace.ts";
import { type Written, written } from "./written.ts";

const MAX_FILES = 500;

interface Draft {
  readonly place: WorkspacePath;
  readonly item: Pick<ChangeItem, "path" | "before" | "seen">;
  /** Null if the file is removed. */
  after: FileSnapshot | null;
}

/** Applies a unified diff or search/replace blocks to any number of files, all or none. Returns one result per file. */
export async function patchFiles(context: FsContext, patch: string): Promise<Written[]> {
  const parts = parsePatch(patch);
  if (parts.length > MAX_FILES) throw new RangeError(`Cannot apply the patch: over ${MAX_FILES} files`);
  const drafts = new Map<string, Draft>();
  const pace = new Pace(context.signal);
  for (const part of parts) {
    if (pace.due) await pace.rest();
    await draftPart(context, part, drafts);
    refuseSum(drafts);
  }
  const changed = [...drafts.values()].map(({ place, item, after }) => ({ ...item, after, named: place.path }));
  const items = changed.sort((a, b) => a.path < b.path ? -1 : 1);
  await changeFiles(context, { change: "patch", items });
  const results: Written[] = [];
  for (const item of items) results.push(await written(context, item, { named: item.named }));
  return results;
}

function refuseSum(drafts: ReadonlyMap<string, Draft>): void {
  let sum = 0;
  for (const { after } of drafts.values()) sum += after?.bytes.length ?? 0;
  if (sum > 2 * MAX_WRITE) throw new RangeError("Cannot patch files of over 32 MB together: patch them one by one");
}

async function draftPart(context: FsContext, part: PatchPart, drafts: Map<string, Draft>): Promise<void> {
  const { from, to, hunks, mode } = part;
  const source = from === null ? null : await draftOf(context, from, drafts);
  if (source && source.after === null) throw await missing(context, { action: "patch", path: source.place.path });
  const place = confineForWrite(context, to ?? from ?? "");
  const target = from === to && source ? source : await draftOf(context, to ?? from ?? "", drafts);
  if (target !== source && target.after !== null && to !== null) {
    throw new Error(`Cannot patch ${place.path}: the patch creates it, and it already exists`);
  }
  const { text, lossy } = decodeText(source?.after?.bytes ?? new Uint8Array());
  if (lossy) throw new Error(`Cannot patch ${place.path}: it is not UTF-8`);
  const changed = await applyHunks(text, hunks, { path: source?.place.path ?? place.path, signal: context.signal });
  if (to === null) {
    if (changed !== "") throw new Error(`Cannot patch ${place.path}: the patch removes it, but not all of its lines`);
    target.after = null;
    return;
  }
  const bytes = new TextEncoder().encode(changed);
  if (bytes.length > MAX_WRITE) throw new RangeError(`Cannot patch ${place.path}: it would be over 16 MB`);
  const kept = source?.after ?? null;
  const own = mode === null ? kept?.mode ?? null : mode;
  if (source && source !== target) source.after = null;
  target.after = { kind: "file", bytes, mode: own, owner: kept?.owner ?? null };
}

/** A file as changed by the previous parts. */
async function draftOf(context: FsContext, path: string, drafts: Map<string, Draft>): Promise<Draft> {
  const place = confineForWrite(context, path);
  const known = drafts.get(place.real);
  if (known) return known;
  const current = await currentFile(context, place, { action: "patch", most: MAX_WRITE });
  if (current) refuseBinary(current.bytes, { place, action: "patch" });
  const item = { path: place.real, before: current, seen: current?.seen ?? null };
  const draft: Draft = { place, item, after: current };
  drafts.set(place.real, draft);
  return draft;
}

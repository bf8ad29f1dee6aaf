import { advised, Pace, type TextFormat } from "@vis/extension";
import type { ChangeItem, FileSnapshot, PathSnapshot } from "../checkpoints.ts";
import { confine, confineEntryForWrite, confineForWrite, type WorkspacePath } from "../confine.ts";
import type { FsContext } from "../context.ts";
import { missing } from "../find_files.ts";
import { applyHunks } from "../patch/apply_hunks.ts";
import { parsePatch, type PatchPart } from "../patch/parse_patch.ts";
import { revealAt } from "../read/read_place.ts";
import { type FileFormat, UTF_8 } from "../text_format.ts";
import type { Facts } from "../tree/tree.ts";
import { changeFiles, takeSnapshot } from "./change_files.ts";
import { currentFile, currentText, MAX_WRITE, newBytes, noteFaults, type Written, written } from "./current_file.ts";
import { innerTarget, treeItems } from "./move_path.ts";

const MAX_FILES = 500;
const MARK = "\uFEFF";

type Content =
  | (FileSnapshot & { readonly format?: TextFormat })
  | Exclude<PathSnapshot, { readonly kind: "dir" | "file" }>;

interface Draft {
  readonly place: WorkspacePath;
  readonly item: Pick<ChangeItem, "path" | "before" | "seen">;
  start: Content;
  after: Content;
  isMade: boolean;
  source: Draft | null;
  readonly isFolder: boolean;
}

export async function patchFiles(context: FsContext, patch: string): Promise<Written[]> {
  const parts = parsePatch(patch.toWellFormed(), (path) => isFile(context, path));
  if (parts.length > MAX_FILES) {
    throw advised(
      new RangeError(`Cannot apply the patch: it has ${parts.length} files or blocks, and the limit is ${MAX_FILES}`),
      "split it",
    );
  }
  const drafts = new Map<string, Draft>(), targets: string[] = [];
  const pace = new Pace(context.signal);
  for (const [at, part] of parts.entries()) {
    if (pace.due) await pace.rest();
    if (part.diff === null || part.diff !== parts[at - 1]?.diff) beginDiff(drafts);
    const isLeft = (path: string): boolean =>
      part.diff !== null &&
      parts.some(({ diff, from, to, isCopy }) => diff === part.diff && from === path && to !== path && !isCopy);
    await draftPart(context, part, { drafts, isLeft, targets });
    refuseSum(drafts);
  }
  const changed = [...drafts.values()].map(({ place, item, after, source }) => {
    const encoding = after?.kind === "file" ? after.format?.encoding : undefined;
    const from = renamedFrom({ item, after, source });
    return { ...item, after, named: place.path, encoding, encodingBefore: encoding, ...from !== null && { from } };
  });
  const items = changed.filter(({ before, after }) => before !== null || after !== null)
    .sort((a, b) => a.path < b.path ? -1 : 1);
  const folders = await emptiedFolders(context, drafts);
  const of = new Map(folders.map((one) => [one.path, one]));
  const whole = items.map((item) => ({
    ...item,
    ...of.get(item.path) && { before: of.get(item.path)?.before ?? null },
  }));
  const inner = folders.filter(({ path }) => !drafts.has(path));
  await changeFiles(context, {
    change: "patch",
    targets,
    items: [...whole, ...inner].sort((a, b) => a.path < b.path ? -1 : 1),
  });
  const results: Written[] = [];
  for (const item of items) results.push(await written(context, item, item));
  await noteFaults(context, items);
  return results;
}

async function emptiedFolders(
  context: FsContext,
  drafts: ReadonlyMap<string, Draft>,
): Promise<readonly ChangeItem[]> {
  const folders: ChangeItem[] = [];
  for (const { place, after, isFolder } of drafts.values()) {
    if (!isFolder || after === null) continue;
    for (const item of await treeItems(context, place, { action: "patch" })) {
      if (item.before.kind === "dir") folders.push(item);
      else if (drafts.get(item.path)?.after !== null) {
        throw advised(
          new Error(
            `Cannot patch ${place.path}: it is a folder that contains ${item.path}, which the patch does not remove`,
          ),
          "remove it in the patch too",
        );
      }
    }
  }
  return folders;
}

function renamedFrom({ item, after, source }: Pick<Draft, "item" | "after" | "source">): string | null {
  const isRenamed = item.before === null && after?.kind === "file" &&
    source !== null && source.after === null && source.item.before?.kind === "file";
  return isRenamed ? source.item.path : null;
}

function isFile(context: FsContext, path: string): boolean {
  try {
    return confine(context, path).info?.kind === "file";
  } catch {
    return false;
  }
}

function beginDiff(drafts: ReadonlyMap<string, Draft>): void {
  for (const draft of drafts.values()) Object.assign(draft, { start: draft.after, isMade: false });
}

function refuseSum(drafts: ReadonlyMap<string, Draft>): void {
  let sum = 0;
  for (const { after } of drafts.values()) sum += after?.kind === "file" ? after.bytes.length : 0;
  if (sum > 2 * MAX_WRITE) {
    throw advised(
      new RangeError(`Cannot patch the files: together they have ${sum} bytes, and the limit is ${2 * MAX_WRITE}`),
      "patch them in several calls",
    );
  }
}

interface Drafting {
  readonly drafts: Map<string, Draft>;
  readonly isLeft: (path: string) => boolean;
  readonly targets: string[];
}

async function draftPart(context: FsContext, part: PatchPart, { drafts, isLeft, targets }: Drafting): Promise<void> {
  const { from, to, hunks } = part;
  const isEntry = part.isLink || from !== to || hunks.length === 0;
  const source = from === null ? null : await draftOf(context, from, { drafts, isEntry });
  const target = from === to && source ? source : await draftOf(context, to ?? from ?? "", { drafts, isEntry });
  if (source && source !== target) revealAt(context, target.place, source.place.real);
  const isMoved = part.diff !== null && from !== to;
  const old = source && (isMoved ? source.start ?? source.after : source.after);
  if (source?.isFolder && old === null) await currentFile(context, source.place, { action: "patch", most: MAX_WRITE });
  if (source && old === null) throw await missing(context, { action: "patch", path: source.place.path });
  if (target !== source && target.after !== null && (target.isMade || !isLeft(to ?? ""))) {
    const what = source === null ? "creates it" : `${part.isCopy ? "copies" : "renames"} ${source.place.path} to it`;
    const but = target.isMade ? "an earlier part of the patch writes it" : "it already exists";
    throw advised(
      new Error(`Cannot patch ${target.place.path}: the patch ${what}, but ${but}`),
      source === null ? "patch its lines, or call fs.writeFile" : "name another path",
    );
  }
  const made = await changedBy(context, part, { old, target: target.place, place: (source ?? target).place, targets });
  if (source && source !== target && !part.isCopy && !source.isMade) {
    source.after = null;
    target.source = source;
  } else if (source !== target) target.source = null;
  Object.assign(target, { after: made, isMade: to !== null });
}

async function changedBy(
  context: FsContext,
  { to, hunks, mode, isLink, isWhole }: PatchPart,
  { old, target, place, targets }: Pick<Drafting, "targets"> & {
    readonly old: Content;
    readonly target: WorkspacePath;
    readonly place: WorkspacePath;
  },
): Promise<Content> {
  const { path } = place;
  if (isWhole) return null;
  if (hunks.length > 0 && old !== null && (old.kind === "link") !== isLink) {
    throw new Error(
      `Cannot patch ${path}: it is ${
        isLink ? "not a link, but the patch changes a link" : "a link, but the patch changes a file"
      }`,
    );
  }
  if (to !== null && hunks.length === 0 && old?.kind === "link") return old;
  const kept = old?.kind === "file" ? old : null;
  const own = modeOf(mode, kept?.mode ?? null);
  if (to !== null && hunks.length === 0 && kept) return { ...kept, mode: own };
  const { text, ...format }: FileFormat & { readonly text: string } = old?.kind === "link"
    ? { ...UTF_8, text: old.target }
    : kept
    ? currentText(context, kept.bytes, { place, action: "patch", encoding: kept.format?.encoding })
    : { ...UTF_8, text: "" };
  const changed = await applyHunks(`${format.hasMark ? MARK : ""}${text}`, hunks, { path, signal: context.signal });
  if (to === null) {
    if (changed !== "" && changed !== MARK) {
      throw advised(
        new Error(`Cannot patch ${path}: the patch removes the file, but text remains after the patch`),
        "remove every line in the patch, or call fs.remove",
      );
    }
    return null;
  }
  if (isLink) {
    targets.push(innerTarget(context, { place: target, target: changed, action: "patch" }));
    return { kind: "link", target: changed };
  }
  const hasMark = changed.startsWith(MARK);
  const now = { ...format, isGuess: false, hasMark };
  const bytes = newBytes(hasMark ? changed.slice(1) : changed, now, { path, action: "patch" });
  return { kind: "file", bytes, mode: own, owner: kept?.owner ?? null, format: now };
}

function modeOf(mode: number | null, old: number | null): number | null {
  if (mode === null) return old;
  const canRun = (mode & 0o111) !== 0;
  if (old === null) return canRun ? 0o755 : null;
  return canRun ? old | (old & 0o444) >> 2 : old & ~0o111;
}

async function draftOf(
  context: FsContext,
  path: string,
  { drafts, isEntry }: { readonly drafts: Map<string, Draft>; readonly isEntry: boolean },
): Promise<Draft> {
  const entry = confineEntryForWrite(context, path);
  const known = drafts.get(entry.real);
  if (known) return known;
  const place = isEntry ? entry : confineForWrite(context, path);
  const followed = drafts.get(place.real);
  if (followed) return followed;
  const isFolder = place.info?.kind === "dir";
  const { after, seen } = isFolder ? { after: null, seen: place.info } : await contentOf(context, place);
  const draft: Draft = {
    place,
    item: { path: place.real, before: after, seen },
    start: after,
    after,
    isMade: false,
    source: null,
    isFolder,
  };
  drafts.set(place.real, draft);
  return draft;
}

async function contentOf(
  context: FsContext,
  place: WorkspacePath,
): Promise<{ readonly after: Content; readonly seen: Facts | null }> {
  if (place.info?.kind !== "link") {
    const current = await currentFile(context, place, { action: "patch", most: MAX_WRITE });
    return { after: current, seen: current?.seen ?? null };
  }
  const link = await takeSnapshot(context, place.real);
  return { after: link?.kind === "dir" ? null : link, seen: place.info };
}

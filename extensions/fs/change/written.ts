import type { FsContext } from "../workspace/context.ts";
import { rememberFile } from "../read/read_place.ts";
import type { ChangeItem } from "../checkpoints/snapshot.ts";
import { decodeText } from "../tree/text_bytes.ts";
import { unifiedDiff } from "../patch/unified_diff.ts";

export interface Written {
  readonly path: string;
  readonly bytes: number;
  /** Unified diff against the previous text; "" if nothing changed. */
  readonly diff: string;
}

/** The result for a changed file, whose state the conversation knows from now on. */
export async function written(
  context: FsContext,
  { path, before, after }: ChangeItem,
  { named = path }: { readonly named?: string } = {},
): Promise<Written> {
  const bytes = after?.kind === "file" ? after.bytes : null;
  if (bytes) {
    const info = context.tree.look(path);
    if (info) rememberFile(context, { place: { real: path, path: named, info }, bytes, lossy: false, info });
  }
  const [old, now] = [textOf(before), textOf(after)];
  const diff = old === undefined || now === undefined
    ? `Binary file ${named} ${now === null ? "removed" : "replaced"}\n`
    : await unifiedDiff(named, { before: old, after: now });
  return { path: named, bytes: bytes?.length ?? 0, diff };
}

/** Null if there was no file, undefined if it is not text. */
function textOf(snapshot: ChangeItem["before"]): string | null | undefined {
  if (snapshot === null || snapshot.kind === "dir") return null;
  if (snapshot.kind === "link") return snapshot.target;
  const { text, lossy } = decodeText(snapshot.bytes);
  return lossy ? undefined : text;
}

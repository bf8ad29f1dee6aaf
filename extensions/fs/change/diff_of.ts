import type { ChangeItem } from "../checkpoints/snapshot.ts";
import { unifiedDiff } from "../patch/unified_diff.ts";
import { decodeText } from "../tree/text_bytes.ts";

/** What a change does to a file, as a unified diff; "" if nothing. */
export async function diffOf(
  { path, before, after }: Pick<ChangeItem, "path" | "before" | "after">,
  named: string = path,
): Promise<string> {
  const [old, now] = [textOf(before), textOf(after)];
  return old === undefined || now === undefined
    ? `Binary file ${named} ${now === null ? "removed" : "replaced"}\n`
    : await unifiedDiff(named, { before: old, after: now });
}

/** Null if there was no file, undefined if it is not text. */
function textOf(snapshot: ChangeItem["before"]): string | null | undefined {
  if (snapshot === null || snapshot.kind === "dir") return null;
  if (snapshot.kind === "link") return snapshot.target;
  const { text, lossy } = decodeText(snapshot.bytes);
  return lossy ? undefined : text;
}

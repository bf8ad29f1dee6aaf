import type { ChangeItem } from "../checkpoints/snapshot.ts";
import { decodeFile } from "../encoding/text_format.ts";
import { unifiedDiff } from "../patch/unified_diff.ts";

/** What a change does to a file, as a unified diff; "" if nothing. `encoding` is that of the text after it. */
export async function diffOf(
  { path, before, after }: Pick<ChangeItem, "path" | "before" | "after">,
  { named = path, encoding }: { readonly named?: string; readonly encoding?: string | undefined } = {},
): Promise<string> {
  const [now, own] = [textOf(after, encoding), textOf(before)];
  const old = own === undefined ? textOf(before, encoding) : own;
  return old === undefined || now === undefined
    ? `Binary file ${named} ${now === null ? "removed" : "replaced"}\n`
    : await unifiedDiff(named, { before: old, after: now });
}

/** Null if there was no file, undefined if it is not text. */
function textOf(snapshot: ChangeItem["before"], encoding?: string): string | null | undefined {
  if (snapshot === null || snapshot.kind === "dir") return null;
  if (snapshot.kind === "link") return snapshot.target;
  return decodeFile(snapshot.bytes, encoding)?.text;
}

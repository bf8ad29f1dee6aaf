import { decodeText } from "@vis/extension";
import type { ChangeItem } from "../checkpoints/snapshot.ts";
import { unifiedDiff } from "../patch/unified_diff.ts";

export interface Encodings {
  /** Of the text after a change, and before it; seen by the bytes if they are not known. */
  readonly encoding?: string | undefined;
  readonly encodingBefore?: string | undefined;
}

/** What a change does to a file, as a unified diff; "" if nothing. */
export async function diffOf(
  { path, before, after }: Pick<ChangeItem, "path" | "before" | "after">,
  { named = path, encoding, encodingBefore }: Encodings & { readonly named?: string } = {},
): Promise<string> {
  const [now, own] = [textOf(after, encoding), textOf(before, encodingBefore)];
  const old = own === undefined ? textOf(before, encoding) : own;
  return old === undefined || now === undefined
    ? `Binary file ${named} ${now === null ? "removed" : "replaced"}\n`
    : await unifiedDiff(named, { before: old, after: now });
}

/** Null if there was no file, undefined if it is not text. */
function textOf(snapshot: ChangeItem["before"], encoding?: string): string | null | undefined {
  if (snapshot === null || snapshot.kind === "dir") return null;
  if (snapshot.kind === "link") return snapshot.target;
  return decodeText(snapshot.bytes, encoding)?.text;
}

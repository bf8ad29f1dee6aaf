import type { PatchHunk, PatchPart } from "./patch_part.ts";

const MAX_PATH = 1_000;

/**
 * Parses search/replace blocks, each after the path of its file; a path applies until the next one:
 *
 *     src/app.ts
 *     <<<<<<< SEARCH
 *     old lines
 *     =======
 *     new lines
 *     >>>>>>> REPLACE
 *
 * An empty search creates a file. Throws Error that names the line where a block is incomplete.
 */
export function parseBlocks(lines: readonly string[]): readonly PatchPart[] {
  const parts = new Map<string, { readonly isNew: boolean; readonly hunks: PatchHunk[] }>();
  let path = "";
  for (let at = 0; at < lines.length; at++) {
    const line = (lines[at] ?? "").replace(/\r$/, "");
    if (!/^<{5,9} ?SEARCH/.test(line)) {
      const named = pathIn(line);
      if (named !== "") path = named;
      continue;
    }
    const middle = indexOf(lines, /^={5,9}\s*$/, at);
    const end = middle < 0 ? -1 : indexOf(lines, /^>{5,9} ?REPLACE/, middle);
    if (path === "") throw new Error(`Cannot apply the patch: no path stands before the block of line ${at + 1}`);
    if (end < 0) {
      throw new Error(
        `Cannot apply the patch: the block of line ${at + 1} has no ${middle < 0 ? "=======" : ">>>>>>> REPLACE"}`,
      );
    }
    const hunk = { line: null, old: lines.slice(at + 1, middle), new: lines.slice(middle + 1, end), ended: null };
    const part = parts.get(path) ?? { isNew: hunk.old.length === 0, hunks: [] };
    part.hunks.push(hunk);
    parts.set(path, part);
    at = end;
  }
  return [...parts].map(([to, { isNew, hunks }]) => ({ from: isNew ? null : to, to, hunks, mode: null }));
}

/** A line that contains a path, also as the info string of a fence or in bold, as models like to write it. */
function pathIn(line: string): string {
  if (line.length > MAX_PATH) return "";
  const text = line.trim().replace(/^(?:#+|[-*]|\d+\.)\s+/, "").replace(/^[*`]+|[*`:]+$/g, "");
  if (line.trim().startsWith("```") || text === "" || /\s/.test(text)) return "";
  return text;
}

function indexOf(lines: readonly string[], pattern: RegExp, from: number): number {
  for (let at = from + 1; at < lines.length; at++) if (pattern.test(lines[at] ?? "")) return at;
  return -1;
}

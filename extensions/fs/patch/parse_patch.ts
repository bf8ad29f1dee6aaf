import { parseBlocks } from "./parse_blocks.ts";
import type { PatchHunk, PatchPart } from "./patch_part.ts";

const MAX_PATCH = 4 * 1024 * 1024;
const HUNK = /^@@+(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?)?(?: @@.*| \.\.\. @@.*|\s*)$/;

/** The parts of a unified diff or of search/replace blocks. Throws Error that says what is missing. */
export function parsePatch(text: string): readonly PatchPart[] {
  if (text.length > MAX_PATCH) throw new RangeError(`Cannot apply the patch: ${text.length} characters are over 4 MB`);
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const parts = lines.some((line) => /^<{5,9} ?SEARCH/.test(line)) ? parseBlocks(lines) : parseUnified(lines);
  if (parts.length > 0) return parts;
  throw new Error(
    'Cannot apply the patch: it names no file; start with "--- a/path", "+++ b/path", "@@ … @@", or use blocks of path, <<<<<<< SEARCH, =======, >>>>>>> REPLACE',
  );
}

interface Head {
  from?: string | null;
  to?: string | null;
  mode: number | null;
}

function parseUnified(lines: readonly string[]): readonly PatchPart[] {
  const parts: PatchPart[] = [];
  let head: Head = { mode: null };
  let hunks: PatchHunk[] = [];
  const finish = (): void => {
    if (head.from !== undefined && head.to !== undefined) {
      parts.push({ from: head.from, to: head.to, hunks, mode: head.mode });
    }
    head = { mode: null };
    hunks = [];
  };
  for (let at = 0; at < lines.length;) {
    const line = (lines[at] ?? "").replace(/\r$/, "");
    if (line.startsWith("diff --git ")) finish();
    if (line.startsWith("GIT binary patch") || /^Binary files .* differ$/.test(line)) {
      throw new Error("Cannot apply the patch: it changes a binary file, which needs other means");
    }
    if (line.startsWith("--- ") && (lines[at + 1] ?? "").startsWith("+++ ")) {
      if (hunks.length > 0 || head.to !== undefined && head.from !== undefined && !isRename(head)) finish();
      head = { ...head, from: nameOf(line), to: nameOf(lines[at + 1] ?? "") };
      at += 2;
    } else if (line.startsWith("@@")) {
      if (head.from === undefined || head.to === undefined) {
        throw new Error(`Cannot apply the patch: line ${at + 1} is a hunk, and no file was named before it`);
      }
      const { hunk, next } = readHunk(lines, at);
      hunks.push(hunk);
      at = next;
    } else {
      readExtended(line, head);
      at++;
    }
  }
  finish();
  return parts;
}

function isRename({ from, to }: Head): boolean {
  return from !== to && from !== null && to !== null;
}

/** `--- a/src/x.ts<TAB>2026-…` */
function nameOf(line: string): string | null {
  const name = (line.slice(4).split("\t")[0] ?? "").trim().replace(/^"(.*)"$/, "$1");
  return name === "/dev/null" ? null : name.replace(/^[ab]\//, "");
}

/** Reads git's extended header lines. */
function readExtended(line: string, head: Head): void {
  const [, word = "", rest = ""] =
    /^(rename from|rename to|new file mode|new mode|deleted file mode) (.+)$/.exec(line) ?? [];
  if (word === "rename from") head.from = rest;
  if (word === "rename to") head.to = rest;
  if (word === "new file mode" || word === "new mode") head.mode = parseInt(rest, 8) & 0o777;
  const git = /^diff --git a\/(.+) b\/(.+)$/.exec(line);
  if (git && git[1] === git[2]) Object.assign(head, { from: git[1], to: git[2] });
  if (word === "new file mode") head.from = null;
  if (word === "deleted file mode") head.to = null;
}

/** The counts in the header are only a hint, since models miscount: what looks like a line of the hunk is one, except
 * the header of the next file once the counts are used up. */
function readHunk(lines: readonly string[], start: number): { readonly hunk: PatchHunk; readonly next: number } {
  const found = HUNK.exec((lines[start] ?? "").trimEnd());
  if (!found) {
    throw new Error(`Cannot apply the patch: line ${start + 1} is not a hunk header: ${lines[start]?.slice(0, 80)}`);
  }
  const counts = { old: Number(found[2] ?? 1), new: Number(found[4] ?? 1) };
  const before: string[] = [];
  const after: string[] = [];
  let ended: boolean | null = null;
  let at = start + 1;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const isLeft = before.length < counts.old || after.length < counts.new;
    if (line.startsWith("@@") || line.startsWith("diff --git ")) break;
    if (!isLeft && line.startsWith("--- ") && (lines[at + 1] ?? "").startsWith("+++ ")) break;
    if (line.startsWith("\\")) {
      ended = (lines[at - 1] ?? "").startsWith("-");
    } else if (line.startsWith("-")) before.push(line.slice(1));
    else if (line.startsWith("+")) after.push(line.slice(1));
    else if (line.startsWith(" ") || (line.replace(/\r$/, "") === "" && isLeft)) {
      before.push(line.slice(1));
      after.push(line.slice(1));
    } else break;
  }
  const line = found[1] === undefined ? null : Math.max(1, Number(found[1]) + (counts.old === 0 ? 1 : 0));
  return { hunk: { line, old: before, new: after, ended }, next: at };
}

import { advised, shorten } from "@vis/extension";
import { normalize } from "node:path/posix";
import { nameText } from "../tree/tree.ts";

export interface PatchHunk {
  readonly line: number | null;
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** True means that a line ending follows the last line of the file, and null means unknown. */
  readonly ended: boolean | null;
  readonly below?: readonly string[];
}

export interface PatchPart {
  readonly from: string | null;
  readonly to: string | null;
  readonly hunks: readonly PatchHunk[];
  readonly mode: number | null;
  readonly isLink: boolean;
  readonly isCopy: boolean;
  readonly isWhole: boolean;
  readonly diff: number | null;
}

const MAX_PATCH = 4 * 1024 * 1024;
const MAX_PATH = 1_000;
const MAX_SHOWN = 80;
const HUNK = /^@@(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?)?(?: @@.*| \.\.\. @@.*|\s*)$/s;
const SEARCH = /^(<{5,9}) ?SEARCH/;
const REPLACE = /^(>{5,9}) ?REPLACE/;
const CODEX = /^\*\*\* (?:(Begin Patch|End Patch|End of File)\s*$|(Update|Add|Delete) File: (.+)$|Move to: )/;
const MAIL = /^From [0-9a-f]{40}/;
const FENCE = /^\s*`{3,}/;
const MARKS = 'a line of a hunk begins with " ", "-" or "+"';

/** A patch has files of a unified diff, as git and other programs print it, Codex's files (`*** Update File: path`), or
 * search/replace blocks. The path before a block applies to all blocks up to the next path:
 *
 *     src/app.ts
 *     <<<<<<< SEARCH
 *     old lines
 *     =======
 *     new lines
 *     >>>>>>> REPLACE
 *
 * A block with an empty search creates a file. Prose may surround the parts. Throws Error with the number of a line
 * that could belong to a part but is unreadable, so that no part is lost. */
export function parsePatch(text: string, isFile: IsFile): readonly PatchPart[] {
  if (text.length > MAX_PATCH) {
    throw advised(
      new RangeError(`Cannot apply the patch: it has ${text.length} characters, and the limit is ${MAX_PATCH}`),
      "split it",
    );
  }
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const isConverted = lines.length > 1 && lines.slice(0, -1).every((line) => line.endsWith("\r"));
  const parts = new PatchReader(isConverted ? lines.map(plain) : lines, isFile).read();
  if (parts.length > 0) return parts;
  throw advised(
    new Error("Cannot apply the patch: Vis found no change to a file in it"),
    'start with "--- a/path", "+++ b/path", "@@ … @@", or use blocks of path, <<<<<<< SEARCH, =======, >>>>>>> REPLACE',
  );
}

export function plain(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

class PatchReader {
  readonly #lines: readonly string[];
  readonly #isFile: IsFile;
  readonly #parts: PatchPart[] = [];
  #at = 0;
  #head: FileHead | null = null;
  #hunks: PatchHunk[] = [];
  #isOver = false;
  #diff = 0;
  #isMail = false;
  #isFenced = false;
  #path = "";
  #since = 0;

  constructor(lines: readonly string[], isFile: IsFile) {
    this.#lines = lines;
    this.#isFile = (path) => this.#parts.some(({ to }) => to === path) || isFile(path);
  }

  read(): readonly PatchPart[] {
    while (this.#at < this.#lines.length) this.#step();
    this.#finish();
    return this.#parts;
  }

  #step(): void {
    const line = this.#line(this.#at);
    if (this.#isPart(line)) this.#since = this.#at;
    else this.#prose(line);
  }

  #isPart(line: string): boolean {
    if (SEARCH.test(line)) this.#block();
    else if (CODEX.test(line)) this.#codex(line);
    else if (line.startsWith("diff --git ")) {
      this.#finish();
      this.#head = new FileHead(this.#at++, { line, diff: this.#diff });
    } else if (MAIL.test(line)) {
      this.#finish();
      this.#isMail = true;
      this.#diff++;
      this.#at++;
    } else if (this.#isPair(this.#at)) this.#names();
    else if (line.startsWith("@@") || /^diff --(?:cc|combined) /.test(line)) this.#hunk(line);
    else if (this.#isMail) return false;
    else if (/^GIT binary patch|^Binary files .* differ$/.test(line)) {
      const name = this.#head?.shown || `the file of line ${this.#at + 1}`;
      throw advised(
        new Error(`Cannot apply the patch: ${name} is binary, and fs.patch can change only text`),
        "leave it out",
      );
    } else if (!FileHead.isExtended(line)) return false;
    else if (this.#head === null || this.#isOver || !this.#head.extend(line)) {
      throw this.#unreadable(this.#at, "it must follow a line of diff --git, in the order of git");
    } else this.#at++;
    return true;
  }

  #prose(line: string): void {
    if (FENCE.test(line)) this.#isFenced = true;
    if (line === "---") this.#isMail = false;
    if (line.trim() === "" || isSignature(line)) this.#isOver = true;
    else if (this.#head !== null && /^[-+]/.test(line)) throw this.#unreadable(this.#at, "it belongs to no hunk");
    else if (this.#head !== null && !this.#isOver && this.#hunks.length === 0 && !FENCE.test(line)) {
      throw this.#unreadable(this.#at, "a hunk begins with @@");
    }
    this.#at++;
  }

  #names(): void {
    if (this.#head === null || this.#head.isNamed || this.#isOver) {
      this.#finish();
      this.#head = new FileHead(this.#at, null);
    }
    this.#head.name(this.#line(this.#at), this.#line(this.#at + 1), this.#isFile);
    this.#at += 2;
  }

  #finish(): void {
    if (this.#head !== null) {
      this.#parts.push(this.#head.part(this.#hunks));
      this.#path = "";
    }
    this.#isMail = false;
    this.#head = null;
    this.#hunks = [];
    this.#isOver = false;
  }

  #hunk(line: string): void {
    const start = this.#at;
    if (/^@@@|^diff /.test(line)) {
      throw advised(this.#unreadable(start, "it belongs to a merge"), "make a diff against one of its parents");
    }
    if (this.#head === null || !this.#head.isNamed) {
      throw advised(
        new Error(
          `Cannot apply the patch: line ${start + 1} begins a hunk, but the lines above it name no file for it`,
        ),
        "write --- a/PATH and +++ b/PATH above it",
      );
    }
    const found = HUNK.exec(line.trimEnd());
    if (!found) throw this.#unreadable(start, "a hunk begins with a line such as @@ -1,2 +1,2 @@, or with only @@");
    const counts = found[1] === undefined ? null : { old: Number(found[2] ?? 1), new: Number(found[4] ?? 1) };
    this.#at++;
    const read = this.#hunkLines(counts);
    const at = counts === null ? null : Math.max(1, Number(found[1]) + (counts.old === 0 ? 1 : 0));
    const missing = { old: (counts?.old ?? 0) - read.old.length, new: (counts?.new ?? 0) - read.new.length };
    const isShort = missing.old > 0 || missing.new > 0;
    if (isShort && (missing.old !== missing.new || !read.isAnchored)) {
      throw advised(
        new Error(
          `Cannot apply the patch: the header of line ${start + 1} gives ${counts?.old} old and ` +
            `${counts?.new} new lines, but its hunk has ${read.old.length} and ${read.new.length}`,
        ),
        "add the missing lines, or write only @@",
      );
    }
    if (!read.isChange) throw this.#unreadable(start, "its hunk adds and removes nothing");
    this.#hunks.push({ line: at, old: read.old, new: read.new, ended: read.ended });
    this.#isOver = false;
  }

  /** A model estimates the counts in the header of a hunk, so the parser accepts some wrong counts. */
  #hunkLines(counts: Counts | null) {
    const hunk = { old: [] as string[], new: [] as string[], ended: null as boolean | null, isChange: false };
    const [start, isFull] = [this.#at, () => counts?.old === hunk.old.length && counts.new === hunk.new.length];
    let [bare, blanks, mark, first]: [number | null, number, string, string] = [null, 0, " ", ""];
    const add = (text: string): void => {
      first ||= mark;
      if (mark !== "+") hunk.old.push(text);
      if (mark !== "-") hunk.new.push(text);
      hunk.isChange ||= mark !== " ";
    };
    for (; this.#at < this.#lines.length; this.#at++) {
      const line = this.#lines[this.#at] ?? "";
      if (this.#isBoundary(counts && { old: counts.old - hunk.old.length, new: counts.new - hunk.new.length })) break;
      if (line.startsWith("\\ No newline") || (line.startsWith("\\ ") && isFull())) hunk.ended = mark === "-";
      else if (/^[-+ ]/.test(line)) {
        for (mark = " "; blanks > 0; blanks--) add("");
        mark = line.slice(0, 1);
        add(line.slice(1));
      } else if (plain(line) === "" && (isFull() || counts === null)) blanks++;
      else if (isFull() || this.#isFenced && FENCE.test(line)) break;
      else {
        if (counts === null) throw this.#unreadable(this.#at, MARKS);
        if (plain(line) !== "") bare ??= this.#at;
        mark = " ";
        add(line);
      }
    }
    if (bare !== null && !isFull()) throw this.#unreadable(bare, MARKS);
    for (let last = this.#at - 1; !isFull() && blanks === 0 && last >= start && this.#line(last) === ""; last--) {
      hunk.old.pop();
      hunk.new.pop();
    }
    return { ...hunk, isAnchored: first === " " && mark === " " };
  }

  #isBoundary(left: Counts | null): boolean {
    const line = this.#line(this.#at);
    if (/^@@|^diff -|^Index: |^={60}/.test(line) || [MAIL, SEARCH, CODEX].some((one) => one.test(line))) return true;
    const isFull = left?.old === 0 && left.new === 0;
    if (isFull && isSignature(line)) return true;
    if (!this.#isPair(this.#at)) return false;
    return isFull || this.#line(this.#at + 2).startsWith("@@") && !(left?.old === 1 && left.new === 1);
  }

  #isPair(at: number): boolean {
    return this.#line(at).startsWith("--- ") && this.#line(at + 1).startsWith("+++ ");
  }

  #codex(line: string): void {
    const start = this.#at++;
    const [, border, kind, name = ""] = CODEX.exec(line) ?? [];
    this.#finish();
    if (border !== undefined) return;
    const from = name.trim();
    const moved = kind === "Update" ? /^\*\*\* Move to: (.+)$/.exec(this.#line(this.#at))?.[1]?.trim() : undefined;
    if (moved !== undefined) this.#at++;
    const target = moved === undefined || normalize(moved) === normalize(from) ? from : moved;
    const hunks: PatchHunk[] = [];
    let below: string[] = [];
    while (this.#at < this.#lines.length) {
      const next = this.#line(this.#at);
      const isSkipped = next.trim() === "" || next.startsWith("@@") || next.startsWith("*** End of File");
      if (!isSkipped && this.#isBoundary(null)) break;
      if (isSkipped) {
        const anchor = next.startsWith("@@") ? next.slice(2).trim() : "";
        if (anchor !== "") below.push(anchor);
        this.#at++;
        continue;
      }
      const at = this.#at;
      const { old, new: now, isChange } = this.#hunkLines(null);
      if (kind === "Delete") throw this.#unreadable(at, "a file that the patch deletes has no lines here");
      if (kind === "Add" && old.length > 0) throw this.#unreadable(at, "each line of a new file begins with +");
      if (!isChange) throw this.#unreadable(at, "its lines change nothing");
      hunks.push({ line: null, old, new: now, ended: null, below });
      below = [];
    }
    if (kind === undefined) throw this.#unreadable(start, "it must follow *** Update File: PATH");
    if (kind === "Add" && hunks.length > 1) throw this.#unreadable(start, "a new file has only one part");
    if (kind === "Update" && hunks.length === 0 && target === from) {
      throw this.#unreadable(start, "no line after it changes a file");
    }
    const isNew = kind === "Add", isGone = kind === "Delete";
    const to = isGone ? null : target;
    const own = { from: isNew ? null : from, to, hunks, mode: null, isLink: false, isCopy: false, diff: null };
    this.#parts.push({ ...own, isWhole: isGone });
  }

  #block(): void {
    const start = this.#at;
    this.#finish();
    const [, marker = ""] = SEARCH.exec(this.#line(start)) ?? [];
    const ends = this.#lines.flatMap((line, at) => at > start ? [{ at, size: REPLACE.exec(line)?.[1]?.length }] : [])
      .filter(({ size }) => size !== undefined);
    const { at: end } = ends.find(({ size }) => size === marker.length) ?? ends[0] ?? { at: -1 };
    const inner = this.#lines.slice(start + 1, end < 0 ? undefined : end);
    const middle = middleOf(inner, marker.length);
    if (middle === "several") {
      throw advised(
        new Error(`Cannot apply the patch: the block of line ${start + 1} has several lines of =======`),
        "give its three markers another length of 5 to 9, such as <<<<<<<< SEARCH, ======== and >>>>>>>> REPLACE",
      );
    }
    if (end < 0 || middle < 0 || inner.some((line) => SEARCH.exec(line)?.[1] === marker)) {
      const missing = middle < 0 ? "=======" : ">>>>>>> REPLACE";
      throw advised(
        new Error(`Cannot apply the patch: the block of line ${start + 1} has no ${missing}`),
        "add this line",
      );
    }
    const hunk = { line: null, old: inner.slice(0, middle), new: inner.slice(middle + 1), ended: null };
    const path = this.#pathBefore(start, { isNew: hunk.old.length === 0 });
    const from = hunk.old.length === 0 ? null : path;
    const own = { from, to: path, hunks: [hunk], mode: null, isLink: false, isCopy: false, diff: null };
    this.#parts.push({ ...own, isWhole: false });
    [this.#path, this.#at] = [path, end + 1];
  }

  #pathBefore(start: number, { isNew }: { readonly isNew: boolean }): string {
    const lines = this.#lines.slice(this.#since, start).map((line, by) => ({
      line: plain(line),
      at: this.#since + by,
    }));
    const found = lines.findLast(({ line }) => line.trim() !== "" && !FENCE.test(line));
    if (found === undefined) {
      if (this.#path !== "") return this.#path;
      throw advised(
        new Error(`Cannot apply the patch: the block of line ${start + 1} follows no path`),
        "write the path of its file on the line before",
      );
    }
    const text = found.line.trim();
    const path = text.replace(/^(?:#+|[-*]|\d+\.)\s+/, "").replace(/^[*`]+|[*`:]+$/g, "");
    const [known] = [found.line, text, path].filter((one) => one.length < MAX_PATH && this.#isFile(one));
    if (known !== undefined) return known;
    const isName = path !== "" && path.length < MAX_PATH &&
      (!/\s/.test(path) || isNew && /\.[A-Za-z0-9]{1,10}$/.test(path));
    if (isName) return path;
    throw this.#unreadable(
      found.at,
      `the line before <<<<<<< SEARCH must be the path of ${isNew ? "the new" : "an existing"} file`,
    );
  }

  #line(at: number): string {
    return plain(this.#lines[at] ?? "");
  }

  #unreadable(at: number, reason: string): Error {
    const line = this.#line(at);
    const shown = JSON.stringify(shorten(line, MAX_SHOWN));
    return new Error(`Cannot apply the patch: line ${at + 1} (${shown}) is not valid, because ${reason}`);
  }
}

interface Counts {
  readonly old: number;
  readonly new: number;
}

function isSignature(line: string): boolean {
  return /^-- ?$/.test(line);
}

function middleOf(lines: readonly string[], length: number): number | "several" {
  const all = lines.flatMap((line, at) => /^={5,9}\s*$/.test(line) ? [at] : []);
  const own = all.filter((at) => lines[at]?.trim().length === length);
  const [found = -1, ...more] = own.length > 0 ? own : all;
  return more.length > 0 ? "several" : found;
}

type IsFile = (path: string) => boolean;

const LINK = 0o120000, MODULE = 0o160000;
const EMPTY = [
  "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
  "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];
const PREFIXES = new Set([
  "a/ b/",
  "i/ w/",
  "c/ i/",
  "c/ w/",
  "o/ w/",
  "1/ 2/",
  "b/ a/",
  "w/ i/",
  "i/ c/",
  "w/ c/",
  "w/ o/",
]);
const EXTENDED = {
  "old mode": /^\d{6}$/,
  "new mode": /^\d{6}$/,
  "deleted file mode": /^\d{6}$/,
  "new file mode": /^\d{6}$/,
  "similarity index": /^\d+%$/,
  "dissimilarity index": /^\d+%$/,
  "rename from": /./,
  "rename to": /./,
  "copy from": /./,
  "copy to": /./,
  "index": /^\w+\.\.\w+(?: \d{6})?$/,
};
type Extended = keyof typeof EXTENDED;
const KEYS = Object.keys(EXTENDED);

class FileHead {
  readonly #at: number;
  readonly #diff: number | null;
  readonly #git: { readonly name: string; readonly hasPrefix: boolean } | null;
  readonly #values = new Map<Extended, string>();
  #names: { readonly from: string | null; readonly to: string | null } | null = null;

  constructor(at: number, git: { readonly line: string; readonly diff: number } | null) {
    this.#at = at;
    this.#diff = git?.diff ?? null;
    this.#git = git && sameName(git.line.slice("diff --git ".length));
  }

  static isExtended(line: string): boolean {
    return extendedIn(line) !== null;
  }

  get isNamed(): boolean {
    return this.#names !== null;
  }

  get shown(): string {
    return this.#names?.to ?? this.#names?.from ?? this.#git?.name ?? this.#values.get("rename to") ?? "";
  }

  extend(line: string): boolean {
    const found = extendedIn(line);
    if (found === null || this.#diff === null || this.isNamed) return false;
    const last = Math.max(-1, ...[...this.#values.keys()].map((key) => KEYS.indexOf(key)));
    if (KEYS.indexOf(found.key) <= last) return false;
    this.#values.set(found.key, found.value);
    return true;
  }

  name(before: string, after: string, isFile: IsFile): void {
    const [from, to] = [nameIn(before.slice(4)), nameIn(after.slice(4))];
    if (this.#git === null) this.#names = namePair(from, to, isFile);
    else if (!this.#git.hasPrefix) this.#names = { from, to };
    else this.#names = { from: from && withoutFolder(from), to: to && withoutFolder(to) };
  }

  part(hunks: readonly PatchHunk[]): PatchPart {
    const { from, to, isCopy } = this.#places();
    const mode = this.#mode();
    const isLink = mode === LINK;
    const own = { from, to, hunks, isCopy, diff: this.#diff, isLink, mode: isLink ? null : mode, isWhole: false };
    const [old = "", now = ""] = this.#values.get("index")?.split(" ")[0]?.split("..") ?? [];
    const isMade = /^0+$/.test(old), isGone = /^0+$/.test(now);
    if (isMade && !this.#values.has("new file mode") || isGone && !this.#values.has("deleted file mode")) {
      throw this.#fault(
        `its index line belongs to a ${isMade ? "new" : "deleted"} file, but no line gives its mode`,
      );
    }
    const isWhole = hunks.length > 0 || this.#values.get("index") === undefined ||
      EMPTY.some((id) => id.startsWith(isMade ? now : isGone ? old : "-"));
    if (!isWhole) throw this.#fault("its hunks are missing");
    const isNothing = hunks.length === 0 && from === to && mode === null;
    if (isNothing) throw this.#fault("no line in it changes the file");
    return own;
  }

  #places(): Pick<PatchPart, "from" | "to" | "isCopy"> {
    const value = (key: Extended): string | undefined => {
      const found = this.#values.get(key);
      return found === undefined ? undefined : nameIn(found, { hasTime: false }) ?? undefined;
    };
    for (const word of ["rename", "copy"] as const) {
      const [from, to] = [value(`${word} from`), value(`${word} to`)];
      if ((from === undefined) !== (to === undefined)) throw this.#fault(`"${word} from" or "${word} to" is missing`);
      if (from !== undefined && to !== undefined) return { from, to, isCopy: word === "copy" };
    }
    if (this.#values.has("similarity index")) throw this.#fault("its lines of rename or copy are missing");
    const { from, to } = this.#names ?? { from: this.#git?.name, to: this.#git?.name };
    if (from === undefined || to === undefined) {
      throw this.#fault("its two names differ, and no line names the old one");
    }
    const isMade = this.#values.has("new file mode"), isGone = this.#values.has("deleted file mode");
    if (this.#names !== null && (isMade && from !== null || isGone && to !== null)) {
      throw this.#fault(`it is a ${isMade ? "new" : "deleted"} file, but has two names`);
    }
    if (from === null && to === null) throw this.#fault("both names are /dev/null");
    return { from: isMade ? null : from, to: isGone ? null : to, isCopy: false };
  }

  #mode(): number | null {
    const read = (key: Extended): number | null => {
      const text = this.#values.get(key);
      return text === undefined ? null : parseInt(text, 8);
    };
    if (this.#values.has("old mode") !== this.#values.has("new mode")) {
      throw this.#fault('"old mode" or "new mode" is missing');
    }
    const ofIndex = /^\S+ (\d{6})$/.exec(this.#values.get("index") ?? "")?.[1];
    const set = read("new mode") ?? read("new file mode");
    const all = [set, read("old mode"), read("deleted file mode"), ofIndex === undefined ? null : parseInt(ofIndex, 8)];
    if (all.includes(MODULE)) {
      throw new Error(`Cannot apply the patch: ${this.shown} is a submodule, and fs.patch cannot change its commit`);
    }
    return all.includes(LINK) ? LINK : set;
  }

  #fault(reason: string): Error {
    const name = this.shown === "" ? "" : ` (${this.shown})`;
    return advised(
      new Error(
        `Cannot apply the patch: the file section that begins at line ${this.#at + 1}${name} is invalid, because ` +
          `${reason}`,
      ),
      "correct this section",
    );
  }
}

function extendedIn(line: string): { readonly key: Extended; readonly value: string } | null {
  for (const [key, pattern] of Object.entries(EXTENDED)) {
    const value = line.slice(key.length + 1);
    if (line.startsWith(`${key} `) && pattern.test(value) && isExtended(key)) return { key, value };
  }
  return null;
}

function isExtended(key: string): key is Extended {
  return key in EXTENDED;
}

function sameName(line: string): { readonly name: string; readonly hasPrefix: boolean } | null {
  const found = halves(line).map(([left, right]) => {
    if (left === right) return { name: left, hasPrefix: false };
    const [a, b] = [withoutFolder(left), withoutFolder(right)];
    return a !== left && a === b ? { name: a, hasPrefix: true } : null;
  });
  return found.find((one) => one !== null) ?? null;
}

function halves(line: string): readonly (readonly [string, string])[] {
  const [quoted] = /^"(?:[^"\\]|\\.)*"/.exec(line) ?? [];
  if (quoted !== undefined) {
    const rest = line.slice(quoted.length + 1);
    return [[unquoted(quoted), rest.startsWith('"') ? unquoted(rest) : rest]];
  }
  return [...line.matchAll(/ /g)].map(({ index }) => [line.slice(0, index), line.slice(index + 1)]);
}

function withoutFolder(name: string): string {
  return name.replace(/^[^/]*\/(?=.)/, "");
}

function nameIn(text: string, { hasTime = true }: { readonly hasTime?: boolean } = {}): string | null {
  const plain = text.replace(/\r$/, "");
  const end = hasTime ? plain.indexOf("\t") : -1;
  const name = plain.startsWith('"')
    ? unquoted(plain)
    : end >= 0
    ? plain.slice(0, end)
    : hasTime
    ? plain.trimEnd()
    : plain;
  return name === "/dev/null" ? null : name;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, "\\": 92 };

function unquoted(text: string): string {
  const [, inner] = /^"((?:[^"\\]|\\.)*)"/.exec(text) ?? [];
  if (inner === undefined) {
    throw advised(new Error(`Cannot apply the patch: the name ${text} has no closing quotation mark`), "add it");
  }
  const bytes = [...inner.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gsu)].flatMap(([whole, octal, escape, plain]) => {
    if (octal !== undefined) return [parseInt(octal, 8) & 0xff];
    if (plain !== undefined) return [...new TextEncoder().encode(plain)];
    const code = ESCAPES[escape ?? ""];
    if (code === undefined) {
      throw advised(
        new Error(`Cannot apply the patch: the name ${text} has the unknown escape ${whole}`),
        "write a backslash as \\\\",
      );
    }
    return [code];
  });
  return nameText(Uint8Array.from(bytes));
}

function namePair(from: string | null, to: string | null, isFile: IsFile) {
  const prefixes = [from, to].map((name) => name?.slice(0, 2) ?? "");
  if (from !== null && to !== null && PREFIXES.has(prefixes.join(" ")) && !(from === to)) {
    return { from: from.slice(2), to: to.slice(2) };
  }
  if (from !== null && from === to && isFile(from)) return { from, to };
  const own = (name: string | null): string | null => {
    const short = name?.replace(/^[ab]\//, "") ?? null;
    return name !== null && short !== null && to === null && !isFile(short) && isFile(name) ? name : short;
  };
  return { from: own(from), to: own(to) };
}

import { advised, type EnvironmentView } from "@vis/extension";
import { newSecrets } from "./commit.ts";
import { Git } from "./git.ts";
import { checkedRef, nameOf, pathArguments, refError } from "./refs_and_paths.ts";
import { FileLines, type KeptLine, noteGuesses, RecordReader } from "./git_output.ts";

export interface DiffOptions {
  readonly from?: string;
  readonly to?: string;
  readonly staged?: boolean;
  readonly paths?: string | readonly string[];
  readonly context?: number;
  readonly maxChars?: number;
}

interface FileDiff {
  readonly path: string;
  readonly from?: string;
  readonly status: "added" | "deleted" | "modified" | "renamed" | "copied" | "conflict";
  readonly added: number;
  readonly deleted: number;
  readonly binary?: true;
  readonly mode?: string;
  readonly hunks: readonly DiffHunk[];
  readonly left?: number;
}

interface DiffHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly heading: string;
  readonly text: string;
}

export interface Diff {
  readonly files: readonly FileDiff[];
  readonly total: Readonly<Record<"files" | "added" | "deleted", number>>;
  readonly left: number;
}

const MAX_CHARS = 400_000;
const MAX_FILES = 300;

/** These arguments fix the format of patches, whatever the settings of a repository are, and prevent external diff
 * programs. */
export const PATCH_ARGUMENTS: readonly string[] = [
  "--patch",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--no-relative",
  "--find-renames",
  "--ignore-submodules=dirty",
  "--submodule=short",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--inter-hunk-context=0",
  "-O/dev/null",
];

export async function diff(env: EnvironmentView, options: DiffOptions = {}): Promise<Diff> {
  const { from, to, staged = false, paths, context = 3, maxChars = MAX_CHARS } = options;
  if (to !== undefined && (from === undefined || staged)) {
    throw staged
      ? advised(new TypeError("Cannot compare: `to` and `staged` exclude each other"), "pass only one of them")
      : advised(new TypeError("Cannot compare: `to` needs `from`"), "pass both");
  }
  const refs = [from, to].filter((ref) => ref !== undefined).map((ref) => checkedRef(ref));
  const git = await Git.of(env);
  const patch = new PatchReader({ files: MAX_FILES, chars: maxChars });
  const reader = new RecordReader((line, bytes) => patch.line(line, bytes));
  const { code, stderr } = await git.run(
    [
      "diff",
      ...(staged ? ["--cached"] : []),
      ...PATCH_ARGUMENTS,
      `--unified=${context}`,
      ...refs,
      ...pathArguments(paths),
    ],
    { take: (chunk) => reader.push(chunk) },
  );
  reader.end();
  if (code !== 0) throw await refError(git, { cannot: "Cannot compare", stderr, refs });
  noteGuesses(env, patch.decode().map(([path, guess]) => [git.place(path), guess]));
  return await withoutNewSecrets(git, patch.diff);
}

async function withoutNewSecrets(git: Git, diff: Diff): Promise<Diff> {
  const hidden = await newSecrets(git, diff.files.flatMap(({ path, from = path }) => [path, from]));
  if (hidden.size === 0) return diff;
  const files = diff.files.map((file) =>
    hidden.has(file.path) || hidden.has(file.from ?? "")
      ? { ...file, hunks: [], left: file.added + file.deleted }
      : file
  );
  return { ...diff, files };
}

export class PatchReader {
  readonly #limits: { readonly files: number; readonly chars: number };
  readonly #files: OpenFile[] = [];
  readonly #total = { files: 0, added: 0, deleted: 0 };
  #file: OpenFile | null = null;
  #hunk: OpenHunk | null = null;
  #chars = 0;
  #old: number[] = [];
  #new = 0;

  constructor(limits: { readonly files: number; readonly chars: number }) {
    this.#limits = limits;
  }

  get diff(): Diff {
    return {
      files: this.#files.map(fileDiff),
      total: { ...this.#total },
      left: this.#total.files - this.#files.length,
    };
  }

  decode(): readonly (readonly [path: string, guess: string])[] {
    return this.#files.flatMap(({ path, texts }) => {
      const guess = texts.decode();
      return guess === null ? [] : [[path, guess] as const];
    });
  }

  line(line: string, bytes: Uint8Array = new TextEncoder().encode(line)): void {
    if (this.#file && (this.#new > 0 || this.#old.some((count) => count > 0))) {
      return this.#content(this.#file, line, bytes);
    }
    if (line.startsWith("diff --")) return this.#begin(line);
    const [, unmerged] = /^\* Unmerged path (.*)$/s.exec(line) ?? [];
    if (unmerged !== undefined) return this.#open({ path: nameOf(unmerged), status: "conflict", marks: 1 });
    if (this.#file) this.#header(this.#file, line);
  }

  #begin(line: string): void {
    const [, combined] = /^diff --(?:cc|combined) (.*)$/s.exec(line) ?? [];
    if (combined !== undefined) return this.#open({ path: nameOf(combined), status: "conflict", marks: 2 });
    this.#open({ path: sameName(line.slice("diff --git ".length)), status: "modified", marks: 1 });
  }

  #open({ path, status, marks }: Pick<OpenFile, "path" | "status" | "marks">): void {
    this.#file = {
      path,
      status,
      marks,
      from: null,
      added: 0,
      deleted: 0,
      binary: false,
      oldMode: "",
      newMode: "",
      left: 0,
      hunks: [],
      texts: new FileLines(),
    };
    this.#hunk = null;
    this.#total.files++;
    if (this.#files.length < this.#limits.files) this.#files.push(this.#file);
  }

  #header(file: OpenFile, line: string): void {
    const [, oldStart, oldLines = "1", newStart, newLines = "1", heading = ""] = HUNK.exec(line) ?? [];
    if (oldStart !== undefined) {
      this.#old = oldCounts(line).slice(0, file.marks);
      this.#new = Number(newLines);
      const place = { oldStart: Number(oldStart), newStart: Number(newStart), heading };
      this.#hunk = { ...place, oldLines: Number(oldLines), newLines: this.#new, lines: [] };
      if (this.#chars < this.#limits.chars) file.hunks.push(this.#hunk);
      return;
    }
    for (const [begin, set] of HEADERS) {
      if (line.startsWith(begin)) return set(file, line.slice(begin.length));
    }
  }

  #content(file: OpenFile, line: string, bytes: Uint8Array): void {
    if (line.startsWith("\\")) return;
    const marks = line.slice(0, file.marks);
    const isOld = marks.includes("-");
    const isNew = marks.includes("+");
    this.#old = this.#old.map((count, at) => (isOld ? marks[at] === "-" : marks[at] !== "+") ? count - 1 : count);
    if (!isOld) this.#new--;
    if (isNew) this.#count(file, "added");
    if (isOld) this.#count(file, "deleted");
    if (this.#chars < this.#limits.chars && this.#hunk) {
      const open: Line = { kept: { text: "", isCut: false }, isChange: isNew || isOld };
      file.texts.add(bytes, (kept) => open.kept = kept);
      this.#chars += open.kept.text.length + 1;
      this.#hunk.lines.push(open);
    } else if (isNew || isOld) file.left++;
  }

  #count(file: OpenFile, what: "added" | "deleted"): void {
    file[what]++;
    this.#total[what]++;
  }
}

interface OpenHunk extends Omit<DiffHunk, "text"> {
  readonly lines: Line[];
}

interface Line {
  kept: KeptLine;
  readonly isChange: boolean;
}

interface OpenFile {
  path: string;
  from: string | null;
  status: FileDiff["status"];
  added: number;
  deleted: number;
  binary: boolean;
  oldMode: string;
  newMode: string;
  left: number;
  readonly marks: 1 | 2;
  readonly hunks: OpenHunk[];
  readonly texts: FileLines;
}

const HUNK = /^@@+ -(\d+)(?:,(\d+))? (?:-\d+(?:,\d+)? )*\+(\d+)(?:,(\d+))? @@+ ?(.*)$/s;

function oldCounts(header: string): number[] {
  const [sides = ""] = header.split(/ @@/, 1);
  return [...sides.matchAll(/ -\d+(?:,(\d+))?/g)].map(([, count = "1"]) => Number(count));
}

const HEADERS: readonly (readonly [
  begin: string,
  set: (file: OpenFile, rest: string) => void,
])[] = [
  ["new file mode ", (file) => file.status = "added"],
  ["deleted file mode ", (file) => file.status = "deleted"],
  ["rename from ", (file, rest) => [file.status, file.from] = ["renamed", nameOf(rest)]],
  ["copy from ", (file, rest) => [file.status, file.from] = ["copied", nameOf(rest)]],
  ["rename to ", (file, rest) => file.path = nameOf(rest)],
  ["copy to ", (file, rest) => file.path = nameOf(rest)],
  ["old mode ", (file, rest) => file.oldMode = rest],
  ["new mode ", (file, rest) => file.newMode = rest],
  ["Binary files ", (file) => file.binary = true],
  ["--- a/", (file, rest) => file.path = file.from === null ? rest.replace(/\t$/, "") : file.path],
  ["+++ b/", (file, rest) => file.path = rest.replace(/\t$/, "")],
  ['--- "a/', (file, rest) => file.path = file.from === null ? nameOf(`"${rest.replace(/\t$/, "")}`) : file.path],
  ['+++ "b/', (file, rest) => file.path = nameOf(`"${rest.replace(/\t$/, "")}`)],
];

function sameName(pair: string): string {
  const half = (pair.length - 1) / 2;
  const second = Number.isInteger(half) ? pair.slice(half + 1) : pair;
  return second.startsWith('"b/') ? nameOf(`"${second.slice(3)}`) : second.slice(2);
}

function fileDiff({ path, from, status, added, deleted, binary, oldMode, newMode, left, hunks }: OpenFile): FileDiff {
  const cut = hunks.flatMap(({ lines }) => lines).filter(({ kept, isChange }) => isChange && kept.isCut).length;
  return {
    path,
    ...(from === null ? {} : { from }),
    status,
    added,
    deleted,
    ...(binary ? { binary: true } : {}),
    ...(newMode === "" ? {} : { mode: `${oldMode} → ${newMode}` }),
    hunks: hunks.map(({ lines, ...hunk }) => ({ ...hunk, text: lines.map(({ kept }) => kept.text).join("\n") })),
    ...(left + cut > 0 ? { left: left + cut } : {}),
  };
}

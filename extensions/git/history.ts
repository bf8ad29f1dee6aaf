import { relative, resolve } from "node:path";
import { ByteBuffer, type EnvironmentView } from "@vis/extension";
import { type Commit, COMMIT_FORMAT, commitOf } from "./commit.ts";
import { type Diff, PATCH_ARGUMENTS, PatchReader } from "./diff.ts";
import { Git, gitSays, plainReason } from "./git.ts";
import { checkedRef, columns, missingFile, nameOf, NoCommitError, pathArguments, refError } from "./refs_and_paths.ts";
import { topOf } from "./repository.ts";
import { FileLines, fileText, type KeptLine, noteGuesses, RecordReader, wholeCharacters } from "./git_output.ts";

export interface LogOptions {
  readonly ref?: string;
  readonly paths?: string | readonly string[];
  readonly limit?: number;
  readonly skip?: number;
  readonly author?: string;
  readonly grep?: string;
  readonly since?: string | Date;
  readonly until?: string | Date;
  readonly firstParent?: boolean;
}

interface CommitLog {
  readonly commits: readonly Commit[];
  readonly left: number;
}

const LIMIT = 50;
const NOTHING: CommitLog = { commits: [], left: 0 };

export async function log(env: EnvironmentView, options: LogOptions = {}): Promise<CommitLog> {
  const { ref = "HEAD", limit = LIMIT, skip = 0 } = options;
  const wanted = [...filters(options), checkedRef(ref, { range: true }), ...pathArguments(options.paths)];
  const git = await Git.of(env);
  const commits: Commit[] = [];
  const reader = new RecordReader((text) => commits.push(commitOf(text)), { separator: NUL });
  const shape = ["-z", "--no-show-signature", "--no-notes", "--no-color", "--no-patch", `--format=${COMMIT_FORMAT}`];
  const { code, stderr } = await git.run(["log", `--max-count=${limit}`, `--skip=${skip}`, ...shape, ...wanted], {
    take: (chunk) => reader.push(chunk),
  });
  reader.end();
  if (code !== 0) {
    if (ref === "HEAD" && gitSays("noCommit", stderr)) return NOTHING;
    const error = await refError(git, { cannot: "Cannot read the log", stderr, refs: [ref] });
    if (ref === "HEAD" && error instanceof NoCommitError) return NOTHING;
    throw error;
  }
  if (commits.length < limit) return { commits, left: 0 };
  const counted = await git.run(["rev-list", "--count", ...wanted]);
  return { commits, left: Math.max(0, Number(counted.stdout.trim()) - skip - commits.length) };
}

function filters({ author, grep, since, until, firstParent }: LogOptions): readonly string[] {
  const date = (time: string | Date): string => typeof time === "string" ? time : time.toISOString();
  return [
    // A costly pattern could keep the machine busy, so git treats the pattern as text.
    "--fixed-strings",
    "--regexp-ignore-case",
    ...(author === undefined ? [] : [`--author=${author}`]),
    ...(grep === undefined ? [] : [`--grep=${grep}`]),
    ...(since === undefined ? [] : [`--since=${date(since)}`]),
    ...(until === undefined ? [] : [`--until=${date(until)}`]),
    ...(firstParent ? ["--first-parent"] : []),
  ];
}

export interface ShowOptions {
  readonly context?: number;
  readonly maxChars?: number;
}

interface TreeEntry {
  readonly path: string;
  readonly type: "file" | "folder" | "link" | "submodule";
  readonly size?: number;
}

type GitObject =
  | (Commit & Diff & { readonly kind: "commit" })
  | {
    readonly kind: "file";
    readonly hash: string;
    readonly bytes: number;
    readonly text: string | null;
    readonly left: number;
  }
  | { readonly kind: "folder"; readonly hash: string; readonly entries: readonly TreeEntry[]; readonly left: number }
  | {
    readonly kind: "tag";
    readonly name: string;
    readonly target: string;
    readonly tagger: string;
    readonly message: string;
  };

interface Wanted {
  readonly env: EnvironmentView;
  readonly hash: string;
  readonly maxChars: number;
}

const MAX_CHARS = 400_000, MAX_FILES = 300, MAX_ENTRIES = 2_000;
const NUL = 0, NEWLINE = 10;

export async function show(env: EnvironmentView, ref = "HEAD", options: ShowOptions = {}): Promise<GitObject> {
  const git = await Git.of(env);
  const { name, type, hash, size } = await named(git, fromTop(env, ref).map((one) => checkedRef(one)));
  const { maxChars = MAX_CHARS } = options;
  if (type === "commit") return await showCommit(git, { env, hash, maxChars, context: options.context ?? 3 });
  if (type === "blob") return await showFile(git, { env, name, hash, bytes: Number(size), maxChars });
  if (type === "tree") return await showFolder(git, hash);
  if (type === "tag") return await showTag(git, hash);
  throw await unknownObject(git, name);
}

/** Git reads a path after a colon from the root of the repository, but the model may write it from the workspace. */
function fromTop(env: EnvironmentView, ref: string): readonly string[] {
  const { workspace } = env, root = topOf(env);
  const [, commit, path] = root === workspace ? [] : /^([^:]*):(?!\/)(.*)$/s.exec(ref) ?? [];
  if (path === undefined) return [ref];
  const fromRoot = `${commit}:${relative(root, resolve(workspace, path))}`;
  return ref.includes("..") ? [fromRoot] : [fromRoot, ref].filter((one) => !one.includes(".."));
}

/** If the repository has none of the names, returns the first name with the type "". */
async function named(
  git: Git,
  names: readonly string[],
): Promise<Readonly<Record<"name" | "type" | "hash" | "size", string>>> {
  for (const name of names) {
    const { stdout } = await git.run(["cat-file", "--batch-check=%(objecttype) %(objectname) %(objectsize)"], {
      input: `${name}\n`,
    });
    const [, type = "", hash = "", size = ""] = /^(commit|blob|tree|tag) (\S+) (\d+)$/.exec(stdout.trim()) ?? [];
    if (type !== "") return { name, type, hash, size };
  }
  return { name: names[0] ?? "", type: "", hash: "", size: "" };
}

async function showCommit(
  git: Git,
  { env, hash, maxChars, context }: Wanted & { readonly context: number },
): Promise<GitObject> {
  const patch = new PatchReader({ files: MAX_FILES, chars: maxChars });
  let commit: Commit | null = null;
  const reader = new RecordReader((record, bytes) => {
    if (commit !== null) return patch.line(record, bytes);
    commit = commitOf(record);
    reader.endWith(NEWLINE);
  }, { separator: NUL });
  const shape = ["--no-show-signature", "--no-notes", "-m", "--first-parent", `--format=${COMMIT_FORMAT}%x00`];
  const { code, stderr } = await git.run(["show", ...shape, ...PATCH_ARGUMENTS, `--unified=${context}`, hash, "--"], {
    take: (chunk) => reader.push(chunk),
  });
  reader.end();
  if (code !== 0 || commit === null) throw new Error(`Cannot show ${hash}: ${plainReason(stderr)}`);
  noteGuesses(env, patch.decode().map(([path, guess]) => [git.place(path), guess]));
  return { kind: "commit", ...(commit as Commit), ...patch.diff };
}

async function showFile(
  git: Git,
  { env, name, hash, bytes, maxChars }: Wanted & { readonly name: string; readonly bytes: number },
): Promise<GitObject> {
  const kept = new ByteBuffer();
  const { code, stderr } = await git.run(["cat-file", "blob", hash], {
    take: (chunk) => kept.push(chunk.subarray(0, maxChars - kept.length)),
  });
  if (code !== 0) throw new Error(`Cannot show ${hash}: ${plainReason(stderr)}`);
  const isCut = kept.length < bytes;
  const whole = isCut ? wholeCharacters(kept.bytes) : kept.bytes;
  const found = fileText(whole);
  if (found === null) return { kind: "file", hash, bytes, text: null, left: bytes - kept.length };
  if (found.guess !== null) {
    noteGuesses(env, [[shownName(git, name), found.guess]]);
    return { kind: "file", hash, bytes, text: found.text, left: bytes - whole.length };
  }
  const text = new TextDecoder().decode(kept.bytes, { stream: isCut });
  return { kind: "file", hash, bytes, text, left: bytes - kept.length };
}

async function showFolder(git: Git, hash: string): Promise<GitObject> {
  const entries: TreeEntry[] = [];
  let left = 0;
  const reader = new RecordReader((line) => {
    const [facts = "", name = ""] = columns(line);
    const [mode = "", type = "", , size = "-"] = facts.split(/ +/);
    if (entries.length >= MAX_ENTRIES) return void left++;
    const kind = type === "tree" ? "folder" : type === "commit" ? "submodule" : mode === "120000" ? "link" : "file";
    entries.push({ path: nameOf(name), type: kind, ...(size === "-" ? {} : { size: Number(size) }) });
  });
  const { code, stderr } = await git.run(["ls-tree", "--long", hash], { take: (chunk) => reader.push(chunk) });
  reader.end();
  if (code !== 0) throw new Error(`Cannot show ${hash}: ${plainReason(stderr)}`);
  return { kind: "folder", hash, entries, left };
}

async function showTag(git: Git, hash: string): Promise<GitObject> {
  const { stdout } = await git.run(["cat-file", "tag", hash]);
  const [head = "", ...message] = stdout.split("\n\n");
  const field = (name: string): string => new RegExp(`^${name} (.*)$`, "m").exec(head)?.[1] ?? "";
  const tagger = field("tagger").replace(/ \d+ [+-]\d+$/, "");
  return { kind: "tag", name: field("tag"), target: field("object"), tagger, message: message.join("\n\n").trim() };
}

function shownName(git: Git, name: string): string {
  const [ref, path] = name.split(/:(.*)/s);
  return path === undefined ? name : `${ref}:${git.place(path)}`;
}

async function unknownObject(git: Git, name: string): Promise<Error> {
  const [ref = "", path] = name.split(/:(.*)/s);
  const cannot = `Cannot show ${shownName(git, name)}`;
  if (path !== undefined && (await git.run(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`])).code === 0) {
    const { stdout } = await git.run(["rev-parse", "--verify", "--quiet", name]);
    if (stdout.trim() !== "") {
      return new Error(
        `${cannot}: the repository lacks the object ${stdout.trim()}, which can be the commit of a submodule`,
      );
    }
    return await missingFile(git, path, cannot, ref);
  }
  return await refError(git, { cannot, stderr: null, refs: [ref || name] });
}

export interface BlameOptions {
  readonly ref?: string;
  readonly from?: number;
  readonly to?: number;
}

interface Origin {
  readonly from: number;
  readonly to: number;
  readonly commit: string | null;
  readonly author: string;
  readonly date: Date;
  readonly subject: string;
  readonly path?: string;
  readonly text: string;
  readonly cut?: true;
}

interface CommitFacts {
  author: string;
  date: Date;
  subject: string;
  path: string;
}

const MAX_LINES = 2_000;

export async function blame(
  env: EnvironmentView,
  path: string,
  { ref, from = 1, to }: BlameOptions = {},
): Promise<{ readonly origins: readonly Origin[]; readonly left: number }> {
  const where = ref === undefined ? [] : [checkedRef(ref)];
  const git = await Git.of(env);
  const report = new BlameReport(path);
  const reader = new RecordReader((line, bytes) => report.line(line, bytes));
  const range = from === 1 && to === undefined ? [] : [`-L${from},${to ?? ""}`];
  const { code, stderr } = await git.run(
    ["blame", "--porcelain", "--no-textconv", ...range, ...where, ...pathArguments(path)],
    { take: (chunk) => reader.push(chunk) },
  );
  reader.end();
  if (code !== 0) {
    const cannot = `Cannot blame ${git.place(path)}`;
    if (gitSays("noPath", stderr)) throw await missingFile(git, path, cannot, ref);
    if (gitSays("notInCommit", stderr)) throw await missingFile(git, path, cannot, ref ?? "HEAD");
    throw await refError(git, { cannot, stderr, refs: where });
  }
  const guess = report.decode();
  if (guess !== null) noteGuesses(env, [[git.place(path), guess]]);
  return report.result;
}

class BlameReport {
  readonly #path: string;
  readonly #commits = new Map<string, CommitFacts>();
  readonly #origins: (Omit<Origin, "text" | "cut" | "to"> & { to: number; readonly lines: KeptLine[] })[] = [];
  readonly #texts = new FileLines();
  #hash = "";
  #line = 0;
  #kept = 0;
  #left = 0;

  constructor(path: string) {
    this.#path = path;
  }

  get result(): { readonly origins: readonly Origin[]; readonly left: number } {
    const origins = this.#origins.map(({ lines, ...origin }) => ({
      ...origin,
      text: lines.map(({ text }) => text).join("\n"),
      ...(lines.some(({ isCut }) => isCut) ? { cut: true as const } : {}),
    }));
    return { origins, left: this.#left };
  }

  decode(): string | null {
    return this.#texts.decode();
  }

  line(line: string, bytes: Uint8Array): void {
    if (line.startsWith("\t")) return this.#text(bytes.subarray(1));
    const [, hash, at] = /^([0-9a-f]{40}|[0-9a-f]{64}) \d+ (\d+)/.exec(line) ?? [];
    if (hash !== undefined) {
      this.#hash = hash;
      this.#line = Number(at);
      if (!this.#commits.has(hash)) this.#commits.set(hash, { author: "", date: new Date(0), subject: "", path: "" });
      return;
    }
    const facts = this.#commits.get(this.#hash);
    if (!facts) return;
    const [key = "", ...words] = line.split(" ");
    const value = words.join(" ");
    if (key === "author") facts.author = value;
    else if (key === "author-time") facts.date = new Date(Number(value) * 1000);
    else if (key === "summary") facts.subject = value;
    else if (key === "filename") facts.path = nameOf(value);
  }

  #text(bytes: Uint8Array): void {
    if (this.#kept >= MAX_LINES) return void this.#left++;
    this.#kept++;
    const commit = /^0+$/.test(this.#hash) ? null : this.#hash;
    const facts = this.#commits.get(this.#hash);
    const last = this.#origins.at(-1);
    if (last?.commit === commit && last.to === this.#line - 1) {
      last.to = this.#line;
      this.#keep(last.lines, bytes);
    } else if (facts) {
      const { path, ...said } = facts;
      const place = { from: this.#line, to: this.#line, commit };
      const lines: KeptLine[] = [];
      this.#origins.push({ ...place, ...said, ...(path === this.#path ? {} : { path }), lines });
      this.#keep(lines, bytes);
    }
  }

  #keep(lines: KeptLine[], bytes: Uint8Array): void {
    const at = lines.length;
    this.#texts.add(bytes, (line) => lines[at] = line);
  }
}

import { ByteBuffer, type EnvironmentView } from "@vis/extension";
import { type Commit, COMMIT_FORMAT, commitOf } from "../output/commit_fields.ts";
import { PATCH_ARGUMENTS } from "./diff.ts";
import { Git } from "../program/git.ts";
import { plainReason } from "../program/git_error.ts";
import { missingFile } from "./missing_file.ts";
import { fileText, noteGuesses, wholeCharacters } from "../output/file_text.ts";
import { type Diff, PatchReader } from "../output/patch_reader.ts";
import { columns, nameOf } from "../output/quoted_name.ts";
import { RecordReader } from "../output/record_reader.ts";
import { checkedRef, refError } from "../program/refs.ts";

export interface ShowOptions {
  readonly context?: number;
  readonly maxChars?: number;
}

interface TreeEntry {
  readonly path: string;
  readonly type: "file" | "folder" | "link" | "submodule";
  readonly size?: number;
}

export type GitObject =
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

/** `git.show`: a commit with its changes, or the object that a name such as HEAD:src/app.ts refers to. */
export async function show(env: EnvironmentView, ref = "HEAD", options: ShowOptions = {}): Promise<GitObject> {
  const name = checkedRef(ref);
  const git = await Git.of(env);
  const { stdout } = await git.run(["cat-file", "--batch-check=%(objecttype) %(objectname) %(objectsize)"], {
    input: `${name}\n`,
  });
  const [type = "", hash = "", size = ""] = stdout.trim().split(" ");
  const { maxChars = MAX_CHARS } = options;
  if (type === "commit") return await showCommit(git, { env, hash, maxChars, context: options.context ?? 3 });
  if (type === "blob") return await showFile(git, { env, name, hash, bytes: Number(size), maxChars });
  if (type === "tree") return await showFolder(git, hash);
  if (type === "tag") return await showTag(git, hash);
  throw await missing(git, name);
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
  noteGuesses(env, patch.decode());
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
    noteGuesses(env, [[name, found.guess]]);
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

async function missing(git: Git, name: string): Promise<Error> {
  const [ref = "", path] = name.split(/:(.*)/s);
  const cannot = `Cannot show ${name}`;
  if (path !== undefined && (await git.run(["rev-parse", "--verify", "--quiet", `${ref}^{commit}`])).code === 0) {
    const { stdout } = await git.run(["rev-parse", "--verify", "--quiet", name]);
    if (stdout.trim() !== "") {
      return new Error(
        `${cannot}: it is commit ${stdout.trim()} of a submodule, whose objects are not in this repository`,
      );
    }
    return await missingFile(git, { cannot, path, commit: ref });
  }
  return await refError(git, { cannot, stderr: null, refs: [ref] });
}

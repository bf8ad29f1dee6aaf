import { Buffer } from "node:buffer";
import { dirname, join, resolve } from "node:path";
import { joinUnresolved, smallTextFile } from "./files.ts";
import { parseGitConfig } from "./git_config.ts";
import { clip } from "./text.ts";

/** Returns the real path of the folder that `.git` is or names, or an absolute path if that folder is missing. */
export async function gitFolderOf(top: string): Promise<string | null> {
  const named = await namedGitFolder(top);
  return named === null ? null : await realOr(named);
}

export async function namedGitFolder(top: string): Promise<string | null> {
  const dot = join(top, ".git"), info = statOf(dot);
  if (info === null) return null;
  if (info.isDirectory) return dot;
  return await namedBy(dot, { in: top, as: /^gitdir: ([^]*[^\r\n])[\r\n]*$/ });
}

function statOf(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch {
    return null;
  }
}

/** Worktrees of one repository share this folder. */
export async function commonFolderOf(gitDir: string): Promise<string> {
  return await realOr(await namedCommonFolder(gitDir));
}

export async function namedCommonFolder(gitDir: string): Promise<string> {
  const path = join(gitDir, "commondir");
  return await namedBy(path, { in: gitDir, as: /^([^]*[^\r\n])[\r\n]*$/ }) ?? gitDir;
}

/** An error could show the text, and a command could have made a link to a private file. So the text of a link counts
 * only if it names an existing folder. */
async function namedBy(
  path: string,
  { in: folder, as: pattern }: { readonly in: string; readonly as: RegExp },
): Promise<string | null> {
  const own = await smallTextFile(path);
  const [, named] = pattern.exec(own ?? await smallTextFile(path, { links: true }) ?? "") ?? [];
  if (named === undefined) return null;
  if (own !== null) return folderNamed(named, { in: folder, by: path });
  const linked = named.includes("\ufffd") ? null : folderNamed(named, { in: folder, by: path });
  return linked !== null && statOf(linked)?.isDirectory ? linked : null;
}

function folderNamed(named: string, { in: folder, by }: { readonly in: string; readonly by: string }): string {
  if (named.includes("\ufffd")) {
    throw new Error(
      `Cannot find a repository: ${by} names a folder whose path is not UTF-8 (${
        clip(named, 200)
      }); rename the folder, and ` +
        `correct ${by}`,
    );
  }
  return joinUnresolved(folder, named);
}

/** Returns whether a repository elsewhere names `top` as its working tree, as worktrees and submodules do. A command
 * that can write only in `top` cannot forge this name. The arguments must be real paths. */
export async function namesTop(
  { top, gitDir, commonDir }: Readonly<Record<"top" | "gitDir" | "commonDir", string>>,
): Promise<boolean> {
  const real = async (named: string): Promise<string> => await realOr(joinUnresolved(gitDir, named));
  if (commonDir !== gitDir) {
    const named = (await smallTextFile(join(gitDir, "gitdir")) ?? "").trim();
    return dirname(gitDir) === join(commonDir, "worktrees") && await real(named) === join(top, ".git");
  }
  const settings = parseGitConfig(await smallTextFile(join(gitDir, "config")) ?? "");
  const tree = settings.findLast(({ section, key }) => section === "core" && key === "worktree")?.value;
  return tree !== undefined && await real(tree) === top;
}

const MOST_BELOW = 5, MOST_LOOKED_AT = 1_000;
const PLAIN_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.@+-]{0,99}$/u;

/** Returns up to five paths of repositories in the folder or one level deeper. Hidden folders, `node_modules`, names with
 * spaces or unusual characters, links, submodules and linked worktrees do not count. */
export async function repositoriesBelow(folder: string): Promise<readonly string[]> {
  const found: string[] = [], open = [""];
  let looked = 0;
  for (const at of open) {
    const names: string[] = [];
    try {
      for await (const { name, isDirectory } of Deno.readDir(join(folder, at))) {
        if (++looked > MOST_LOOKED_AT) break;
        if (isDirectory && PLAIN_NAME.test(name) && name !== "node_modules") names.push(name);
      }
    } catch {
      continue;
    }
    for (const path of names.sort().map((name) => join(at, name))) {
      if (await isOwnRepository(join(folder, path))) found.push(path);
      else if (at === "") open.push(path);
      if (found.length === MOST_BELOW) return found;
    }
  }
  return found;
}

export async function isOwnRepository(top: string): Promise<boolean> {
  const dot = await Deno.lstat(join(top, ".git")).catch(() => null);
  return dot?.isDirectory === true && statOf(join(top, ".git/HEAD")) !== null;
}

async function realOr(path: string): Promise<string> {
  return await Deno.realPath(path).catch(() => resolve(path));
}

const STAT_BYTES = 40, FLAG_BYTES = 2;
const FLAG_EXTENDED = 0x4000, FLAG_STAGE = 0x3000;
const KIND_MASK = 0o170000, SUBMODULE = 0o160000;

class GitIndexEntry {
  readonly #index: Buffer;
  readonly #at: number;
  readonly #hashBytes: number;
  readonly #name: Buffer;

  constructor(
    index: Buffer,
    { at, hashBytes, name }: { readonly at: number; readonly hashBytes: number; readonly name: Buffer },
  ) {
    this.#index = index;
    this.#at = at;
    this.#hashBytes = hashBytes;
    this.#name = name;
  }

  get name(): string {
    return this.#name.toString();
  }

  get hash(): Buffer {
    return this.#index.subarray(this.#at + STAT_BYTES, this.#at + STAT_BYTES + this.#hashBytes);
  }

  get size(): number {
    return this.#index.readUInt32BE(this.#at + 36);
  }

  get modifiedMs(): number {
    return this.#index.readUInt32BE(this.#at + 8) * 1_000 + this.#index.readUInt32BE(this.#at + 12) / 1e6;
  }

  get isSubmodule(): boolean {
    return (this.#index.readUInt32BE(this.#at + 24) & KIND_MASK) === SUBMODULE;
  }

  get isConflict(): boolean {
    return (this.#index.readUInt16BE(this.#at + STAT_BYTES + this.#hashBytes) & FLAG_STAGE) !== 0;
  }
}

/** Reads versions 2, 3 and 4. An index of another version has no entries. */
export class GitIndex {
  readonly #bytes: Buffer;
  readonly #hashBytes: number;
  readonly #version: number;
  #end = 0;

  constructor(bytes: Uint8Array<ArrayBuffer>, { sha256 }: { readonly sha256: boolean }) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#hashBytes = sha256 ? 32 : 20;
    const isIndex = this.#bytes.length >= 12 && this.#bytes.toString("latin1", 0, 4) === "DIRC";
    this.#version = isIndex ? this.#bytes.readUInt32BE(4) : 0;
  }

  *entries(): Generator<GitIndexEntry> {
    const index = this.#bytes, hashBytes = this.#hashBytes, version = this.#version;
    if (version < 2 || version > 4) return;
    const head = STAT_BYTES + hashBytes + FLAG_BYTES;
    let name: Buffer = Buffer.alloc(0), at = 12;
    for (let left = index.readUInt32BE(8); left > 0 && at + head < index.length; left--) {
      const flags = index.readUInt16BE(at + head - FLAG_BYTES);
      let from = at + head + (version > 2 && (flags & FLAG_EXTENDED) !== 0 ? 2 : 0), kept = 0;
      if (version === 4) {
        // Version 4 removes `cut` bytes from the end of the previous name, and appends the rest of this name.
        let cut = 0, more = true;
        for (let first = true; more; first = false) {
          const byte = index[from++] ?? 0;
          cut = (first ? 0 : (cut + 1) << 7) | (byte & 0x7f);
          more = (byte & 0x80) !== 0;
        }
        kept = Math.max(name.length - cut, 0);
      }
      const end = index.indexOf(0, from);
      if (end < 0) break;
      const rest = index.subarray(from, end);
      name = kept === 0 ? rest : Buffer.concat([name.subarray(0, kept), rest]);
      yield new GitIndexEntry(index, { at, hashBytes, name });
      at = version === 4 ? end + 1 : at + Math.ceil((end - at + 1) / 8) * 8;
    }
    this.#end = at;
  }

  /** Returns the name of the file with the other entries of a split index, or null. The caller must first read all
   * entries. */
  get shared(): string | null {
    const index = this.#bytes, least = 8 + this.#hashBytes;
    if (this.#end === 0) return null;
    for (let from = this.#end; from + least <= index.length; from += 8 + index.readUInt32BE(from + 4)) {
      if (index.toString("latin1", from, from + 4) !== "link") continue;
      const hash = index.toString("hex", from + 8, from + least);
      return /^0*$/.test(hash) ? null : `sharedindex.${hash}`;
    }
    return null;
  }
}

import { AT } from "../tree/tree.ts";
import type { Stamp } from "./workspace_scan.ts";
import {
  ByteBuffer,
  commonFolderOf,
  type EnvironmentView,
  gitFolderOf,
  GitIndex,
  isSha256,
  parseGitConfig,
  plainFile,
  smallTextFile,
} from "@vis/extension";
import type { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { dirname, join, posix, relative, resolve, sep } from "node:path";

const MOST_BYTES = 64 << 20, MOST_NAMED = 16 << 20;

type Spawn = EnvironmentView["spawn"];

const GIT = ["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false"];
const READS = {
  env: { GIT_NO_LAZY_FETCH: "1", GIT_OPTIONAL_LOCKS: "0", GIT_NO_REPLACE_OBJECTS: "1" },
  write: [],
  network: false,
  answered: true,
  timeoutMs: 30_000,
};

export class GitContents {
  readonly #workspace: string;
  readonly #all: boolean;
  #stamp = "";
  #hashes: ReadonlyMap<string, Entry> = new Map();

  constructor(workspace: string, { all = false } = {}) {
    this.#workspace = workspace;
    this.#all = all;
  }

  async refresh(root: string = this.#workspace): Promise<void> {
    const place = await repositoryAt(root, this.#workspace);
    const index = place === null ? null : join(place.gitDir, "index");
    const info = index === null ? null : await Deno.stat(index).catch(() => null);
    const stamp = info === null ? "" : [index, info.ino, info.size, info.mtime?.getTime()].join();
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    const bytes = index === null ? null : await plainFile(index, { most: MOST_BYTES }).catch(() => null);
    if (bytes === null || place === null) return void (this.#hashes = new Map());
    const settings = parseGitConfig(await smallTextFile(join(place.commonDir, "config")) ?? "");
    this.#hashes = filesOf(new GitIndex(bytes, { sha256: isSha256(settings) }), {
      prefix: place.prefix,
      all: this.#all,
      before: info?.mtime?.getTime() ?? 0,
    });
  }

  has(path: string, stamp: Stamp): boolean {
    const entry = this.#hashes.get(path);
    return entry !== undefined && entry.size === stamp[AT.size] && entry.modified === stamp[AT.modified];
  }

  async read(
    files: ReadonlyMap<string, Stamp>,
    spawn: Spawn,
  ): Promise<ReadonlyMap<string, Uint8Array<ArrayBuffer>>> {
    const wanted = new Map([...files.keys()].flatMap((path) => {
      const entry = this.#hashes.get(path);
      return entry ? [[path, entry.hash.toString("hex")] as const] : [];
    }));
    if (wanted.size === 0 || !spawn) return new Map();
    const hashes = [...new Set(wanted.values())];
    const output = new ByteBuffer();
    const ran = await spawn([...GIT, "cat-file", "--batch"], {
      ...READS,
      input: hashes.join("\n"),
      // The program runs even if the call has ended, because Vis must be able to undo the call's changes.
      lifetime: "conversation",
      maxBytes: 4096,
      onOutput: (name, bytes) => void (name === "stdout" && output.push(bytes)),
    }).catch(() => null);
    if (ran === null) return new Map();
    const texts = objectsIn(output.bytes);
    return new Map([...wanted].flatMap(([path, hash]) => {
      const bytes = texts.get(hash);
      return bytes && bytes.length === files.get(path)?.[AT.size] ? [[path, bytes] as const] : [];
    }));
  }
}

/** Maps paths whose content is in a commit of the closest repository to the time at which its HEAD last moved, if that
 * time is after their `at`. If git cannot run behind a complete wall, staged content counts as committed. */
export async function committedSince(
  { root, spawn }: { readonly root: string; readonly spawn: Spawn },
  files: ReadonlyMap<string, { readonly at: number }>,
  bytesOf: (path: string) => Uint8Array | null | Promise<Uint8Array | null>,
): Promise<ReadonlyMap<string, number>> {
  const tops = new Map<string, string | null>(), folderOf = (path: string): string => dirname(resolve(root, path));
  for (const path of files.keys()) await closestTop(folderOf(path), tops);
  const byTop = Map.groupBy(files.keys(), (path) => tops.get(folderOf(path)) ?? null);
  const found = new Map<string, number>();
  for (const [top, paths] of byTop) {
    const place = top === null ? null : await repositoryAt(top, root);
    const head = place === null ? null : await Deno.stat(join(place.gitDir, "logs", "HEAD")).catch(() => null);
    const moved = head?.mtime?.getTime() ?? 0;
    const earlier = paths.filter((path) => (files.get(path)?.at ?? moved) < moved);
    if (top === null || place === null || earlier.length === 0) continue;
    const named = new Map(earlier.map((path) => [slashed(relative(top, resolve(root, path))), path]));
    const staged = await stagedHashes(place, named, bytesOf);
    const committed = await hashesInHead(spawn, { top, names: [...staged.keys()] });
    for (const [name, hash] of staged) {
      const path = named.get(name);
      if (path !== undefined && (committed?.get(name) ?? hash) === hash) found.set(path, moved);
    }
  }
  return found;
}

async function closestTop(folder: string, known: Map<string, string | null>): Promise<string | null> {
  const seen = known.get(folder), above = dirname(folder);
  if (seen !== undefined) return seen;
  const isTop = await gitFolderOf(folder).then((one) => one !== null, () => false);
  const top = isTop ? folder : above === folder ? null : await closestTop(above, known);
  known.set(folder, top);
  return top;
}

async function stagedHashes(
  { gitDir, commonDir }: Repository,
  named: ReadonlyMap<string, string>,
  bytesOf: Parameters<typeof committedSince>[2],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const bytes = await plainFile(join(gitDir, "index"), { most: MOST_BYTES }).catch(() => null);
  if (bytes === null) return found;
  const sha256 = isSha256(parseGitConfig(await smallTextFile(join(commonDir, "config")) ?? ""));
  for (const { name, isConflict, hash } of new GitIndex(bytes, { sha256 }).entries()) {
    const path = isConflict ? undefined : named.get(name);
    const content = path === undefined ? null : await bytesOf(path);
    if (content === null) continue;
    const own = createHash(sha256 ? "sha256" : "sha1").update(`blob ${content.length}\0`).update(content);
    if (own.digest().equals(hash)) found.set(name, hash.toString("hex"));
  }
  return found;
}

/** Maps names that git can read to the content's hash, or "" for a file that HEAD lacks. */
async function hashesInHead(
  spawn: Spawn,
  { top, names }: { readonly top: string; readonly names: readonly string[] },
): Promise<ReadonlyMap<string, string> | null> {
  const readable = names.filter((name) => !name.includes("\n"));
  if (readable.length === 0 || !spawn) return null;
  const argv = [...GIT, "-C", top, "cat-file", "--batch-check=%(objectname)"];
  const input = readable.map((name) => `HEAD:${name}\n`).join("");
  const ran = await spawn(argv, { ...READS, input, whole: true, maxBytes: MOST_NAMED }).catch(() => null);
  if (ran === null || ran.code !== 0 || ran.truncated) return null;
  const lines = ran.stdout.split("\n");
  return new Map(readable.map((name, at) => [name, /^[0-9a-f]+$/.exec(lines[at] ?? "")?.[0] ?? ""]));
}

interface Entry {
  readonly hash: Buffer;
  readonly size: number;
  readonly modified: number;
}

interface Repository {
  readonly gitDir: string;
  readonly commonDir: string;
  readonly prefix: string;
}

async function repositoryAt(top: string, workspace: string): Promise<Repository | null> {
  const gitDir = await gitFolderOf(top).catch(() => null);
  const commonDir = gitDir === null ? null : await commonFolderOf(gitDir).catch(() => null);
  if (gitDir === null || commonDir === null) return null;
  const below = slashed(relative(top, workspace));
  return { gitDir, commonDir, prefix: below === "" ? "" : `${below}/` };
}

function slashed(path: string): string {
  return path.replaceAll(sep, "/");
}

/** A file that may have changed while git wrote the index does not count. */
function filesOf(
  index: GitIndex,
  { prefix, all, before }: { readonly prefix: string; readonly all: boolean; readonly before: number },
): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>();
  for (const { name, isConflict, hash, size, modifiedMs } of index.entries()) {
    const isInside = name.startsWith(prefix);
    if (isConflict || !all && !isInside || modifiedMs >= before) continue;
    const path = isInside ? name.slice(prefix.length) : posix.relative(`/${prefix}`, `/${name}`);
    found.set(path, { hash, size, modified: modifiedMs });
  }
  return found;
}

function objectsIn(output: Uint8Array<ArrayBuffer>): ReadonlyMap<string, Uint8Array<ArrayBuffer>> {
  const found = new Map<string, Uint8Array<ArrayBuffer>>(), decoder = new TextDecoder("latin1");
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(10, at);
    if (end < 0) break;
    const [hash = "", kind, size] = decoder.decode(output.subarray(at, end)).split(" ");
    at = end + 1;
    if (kind !== "blob") continue;
    const length = Number(size);
    if (at + length > output.length) break;
    found.set(hash, output.slice(at, at + length));
    at += length + 1;
  }
  return found;
}

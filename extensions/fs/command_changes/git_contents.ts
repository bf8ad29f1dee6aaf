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
import { dirname, join, posix, relative, sep } from "node:path";

const MOST_BYTES = 64 << 20;
const TIMEOUT_MS = 30_000;

type Spawn = EnvironmentView["spawn"];

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
    const argv = ["git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false", "cat-file", "--batch"];
    const ran = await spawn(argv, {
      input: hashes.join("\n"),
      env: { GIT_NO_LAZY_FETCH: "1", GIT_OPTIONAL_LOCKS: "0", GIT_NO_REPLACE_OBJECTS: "1" },
      write: [],
      network: false,
      // The program runs even if the call has ended, because Vis must be able to undo the call's changes.
      lifetime: "conversation",
      answered: true,
      timeoutMs: TIMEOUT_MS,
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

/** Maps paths whose content equals git's index to the time at which HEAD last moved, if that time is after their `at`.
 */
export async function committedSince(
  workspace: string,
  files: ReadonlyMap<string, { readonly at: number }>,
  bytesOf: (path: string) => Uint8Array | null | Promise<Uint8Array | null>,
): Promise<ReadonlyMap<string, number>> {
  const place = files.size === 0 ? null : await repositoryAround(workspace);
  if (place === null) return new Map();
  const info = await Deno.stat(join(place.gitDir, "logs", "HEAD")).catch(() => null);
  const moved = info?.mtime?.getTime() ?? 0;
  if (![...files.values()].some(({ at }) => at < moved)) return new Map();
  const bytes = await plainFile(join(place.gitDir, "index"), { most: MOST_BYTES }).catch(() => null);
  if (bytes === null) return new Map();
  const sha256 = isSha256(parseGitConfig(await smallTextFile(join(place.commonDir, "config")) ?? ""));
  const named = new Map([...files].map(([path, file]) => [posix.join(place.prefix, path), { path, ...file }]));
  const found = new Map<string, number>();
  for (const { name, isConflict, hash } of new GitIndex(bytes, { sha256 }).entries()) {
    const file = isConflict ? undefined : named.get(name);
    if (!file || file.at >= moved) continue;
    const content = await bytesOf(file.path);
    if (content === null) continue;
    const own = createHash(sha256 ? "sha256" : "sha1").update(`blob ${content.length}\0`).update(content);
    if (own.digest().equals(hash)) found.set(file.path, moved);
  }
  return found;
}

async function repositoryAround(workspace: string): Promise<Repository | null> {
  for (let top = workspace;; top = dirname(top)) {
    const place = await repositoryAt(top, workspace);
    if (place !== null || top === dirname(top)) return place;
  }
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
  const below = relative(top, workspace).replaceAll(sep, "/");
  return { gitDir, commonDir, prefix: below === "" ? "" : `${below}/` };
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

import { AT } from "../tree/tree.ts";
import type { Stamp } from "./workspace_look.ts";
import { ByteBuffer, type EnvironmentView, smallTextFile } from "@vis/extension";
import { Buffer } from "node:buffer";
import { join, posix, relative, resolve, sep } from "node:path";

const MOST_BYTES = 64 << 20;
/** The bytes of an index entry before its hash, and between the hash and the name. */
const STAT_BYTES = 40, FLAG_BYTES = 2;
const TIMEOUT_MS = 30_000;

type Spawn = EnvironmentView["spawn"];

/** Tracks the files that git tracks and that match its index: git's objects have their contents from before a change. */
export class GitContents {
  readonly #workspace: string;
  readonly #all: boolean;
  #stamp = "";
  #hashes: ReadonlyMap<string, Entry> = new Map();

  constructor(workspace: string, { all = false } = {}) {
    this.#workspace = workspace;
    this.#all = all;
  }

  /** Reads the index, if it has changed. `root` is the top of the repository around the workspace, if there is one. */
  async refresh(root: string = this.#workspace): Promise<void> {
    const place = await repositoryAt(root, this.#workspace);
    const index = place === null ? null : join(place.gitDir, "index");
    const info = index === null ? null : await Deno.stat(index).catch(() => null);
    const stamp = info === null ? "" : [index, info.ino, info.size, info.mtime?.getTime()].join();
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    const bytes = index !== null && info !== null && info.size <= MOST_BYTES
      ? await Deno.readFile(index).catch(() => null)
      : null;
    const settings = place === null ? null : await smallTextFile(join(place.commonDir, "config"));
    const hashBytes = /objectformat\s*=\s*sha256/i.test(settings ?? "") ? 32 : 20;
    this.#hashes = bytes === null || place === null ? new Map() : entriesOf(Buffer.from(bytes.buffer), {
      hashBytes,
      prefix: place.prefix,
      all: this.#all,
      before: info?.mtime?.getTime() ?? 0,
    });
  }

  /** Whether a file with this stamp has the content that the index names. */
  has(path: string, stamp: Stamp): boolean {
    const entry = this.#hashes.get(path);
    return entry !== undefined && entry.size === stamp[AT.size] && entry.modified === stamp[AT.modified];
  }

  /** Reads the earlier contents of such files, as far as git has them. */
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
      // The call may have ended, but its changes can still be undone.
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
      // A filter of git, such as one for line ends, gives the file another size.
      return bytes && bytes.length === files.get(path)?.[AT.size] ? [[path, bytes] as const] : [];
    }));
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
  /** The path of the workspace in the repository: "", or with a slash at the end. */
  readonly prefix: string;
}

/** Returns the repository with this top, or null. */
async function repositoryAt(top: string, workspace: string): Promise<Repository | null> {
  const dot = join(top, ".git"), info = await Deno.lstat(dot).catch(() => null);
  const named = info?.isFile ? /^gitdir: (.+?)\s*$/.exec(await smallTextFile(dot) ?? "")?.[1] : undefined;
  const gitDir = info?.isDirectory ? dot : named === undefined ? null : resolve(top, named);
  if (gitDir === null) return null;
  const common = (await smallTextFile(join(gitDir, "commondir")))?.trim();
  const below = relative(top, workspace).replaceAll(sep, "/");
  const commonDir = common === undefined ? gitDir : resolve(gitDir, common);
  return { gitDir, commonDir, prefix: below === "" ? "" : `${below}/` };
}

/** Returns the files of an index below a folder, or all of them relative to it. A file that may have changed while the
 * index was written is skipped. */
function entriesOf(
  index: Buffer<ArrayBuffer>,
  { hashBytes, prefix, all, before }: {
    readonly hashBytes: number;
    readonly prefix: string;
    readonly all: boolean;
    readonly before: number;
  },
): ReadonlyMap<string, Entry> {
  const found = new Map<string, Entry>();
  const version = index.length < 12 || index.toString("latin1", 0, 4) !== "DIRC" ? 0 : index.readUInt32BE(4);
  if (version < 2 || version > 3) return found;
  const head = STAT_BYTES + hashBytes + FLAG_BYTES;
  for (let at = 12, left = index.readUInt32BE(8); left > 0 && at + head < index.length; left--) {
    const flags = index.readUInt16BE(at + head - FLAG_BYTES);
    const from = at + head + (version > 2 && (flags & 0x4000) !== 0 ? 2 : 0);
    const end = index.indexOf(0, from);
    if (end < 0) break;
    const path = index.toString("utf8", from, end), isStaged = (flags & 0x3000) === 0;
    const modified = index.readUInt32BE(at + 8) * 1_000 + index.readUInt32BE(at + 12) / 1e6;
    const isInside = path.startsWith(prefix);
    if (isStaged && (all || isInside) && modified < before) {
      const hash = index.subarray(at + STAT_BYTES, at + STAT_BYTES + hashBytes);
      found.set(isInside ? path.slice(prefix.length) : posix.relative(`/${prefix}`, `/${path}`), {
        hash,
        size: index.readUInt32BE(at + 36),
        modified,
      });
    }
    at += Math.ceil((end - at + 1) / 8) * 8;
  }
  return found;
}

/** Parses the output of `git cat-file --batch` into contents by hash. */
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

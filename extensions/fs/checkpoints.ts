import { Kernel } from "./tree/kernel.ts";
import { type Attributes, type Facts, type NewFile, sha256Of } from "./tree/tree.ts";
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";

interface StoredItem {
  readonly path: string;
  readonly before: State;
  readonly after: State;
  readonly link?: string;
}

export const HOOK = "hook";

export interface Checkpoint {
  readonly id: string;
  readonly at: number;
  readonly change: string;
  readonly of: readonly string[];
  readonly kept?: readonly string[];
  readonly conversationId: string;
  readonly queryId: string | null;
  readonly iterationId: string | null;
  readonly items: readonly StoredItem[];
  readonly moves?: readonly { readonly from: string; readonly to: string }[];
  readonly temporary: readonly string[];
  /** The items with absolute paths are in these added folders. */
  readonly added?: readonly string[];
}

/** Leaves out folders that are gone or whose path has become a link. */
export function recordedFolders(checkpoints: readonly Pick<Checkpoint, "added">[]): readonly string[] {
  const folders = new Set(checkpoints.flatMap(({ added = [] }) => added.map((folder) => resolve(folder))));
  return [...folders].filter((folder) => {
    try {
      return Deno.realPathSync(folder) === folder && Deno.statSync(folder).isDirectory;
    } catch {
      return false;
    }
  });
}

interface Limits {
  readonly bytes: number;
  readonly changes: number;
  readonly days: number;
}

const LIMITS: Limits = { bytes: 256 * 1024 * 1024, changes: 1_000, days: 30 };
/** A younger object may belong to an unfinished change of another process. */
const YOUNG_MS = 10 * 60_000;
const PRUNE_EVERY = 50;
const PRUNE_MS = 3_600_000;
const STAMP = ".pruned";
const DAY_MS = 86_400_000;

/** `begin` stores a change by `fs` before it happens, so that a later process can revert it after a kill. */
export class Checkpoints {
  readonly #folder: string;
  readonly #all: string;
  readonly #limits: Limits;
  readonly #locked = new Map<string, Deno.FsFile>();
  #added = 0;
  #last = 0;

  constructor(home: string, { workspace, limits = LIMITS }: { readonly workspace: string; readonly limits?: Limits }) {
    this.#all = join(home, "checkpoints");
    this.#folder = join(this.#all, createHash("sha256").update(workspace).digest("hex").slice(0, 24));
    this.#limits = limits;
  }

  newId(): string {
    this.#last = Math.max(Date.now(), this.#last + 1);
    return `${timeIn(this.#last)}-${crypto.randomUUID().slice(0, 8)}`;
  }

  async keep(snapshot: PathSnapshot): Promise<State> {
    const state = await stateOf(snapshot);
    if (snapshot?.kind !== "file" || state?.kind !== "file") return state;
    const path = this.#object(state.hash);
    const now = new Date();
    if (await Deno.utime(path, now, now).then(() => true, () => false)) return state;
    await Deno.mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
    (await writeWhole(path, snapshot.bytes)).close();
    return state;
  }

  async load(state: State): Promise<PathSnapshot> {
    if (state?.kind !== "file") return state;
    if (isLostState(state)) throw new LostContents(NO_COPY);
    const bytes = await Deno.readFile(this.#object(state.hash)).catch(() => null);
    const { mode, attributes } = state;
    const snapshot: PathSnapshot = bytes && { kind: "file", bytes, mode, owner: null, attributes };
    if (snapshot && isSameState(await stateOf(snapshot), state)) return snapshot;
    throw new Error("Vis no longer keeps the previous content of the file");
  }

  async begin(checkpoint: Checkpoint): Promise<void> {
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const file = await writeWhole(this.#pending(checkpoint.id), encode(checkpoint));
    this.#locked.set(checkpoint.id, file);
  }

  async record(checkpoint: Checkpoint): Promise<void> {
    await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
    (await writeWhole(join(this.#folder, `${checkpoint.id}.json`), encode(checkpoint))).close();
    await this.#pruneSometimes();
  }

  async done(id: string): Promise<void> {
    await Deno.rename(this.#pending(id), join(this.#folder, `${id}.json`));
    this.#unlock(id);
    await this.#pruneSometimes();
  }

  async drop(id: string): Promise<void> {
    await Deno.remove(this.#pending(id)).catch(() => {});
    this.#unlock(id);
  }

  async list(): Promise<readonly Checkpoint[]> {
    return await this.#readAll(await this.#names());
  }

  async unseen(seen: Set<string>, { since }: { readonly since: number }): Promise<readonly Checkpoint[]> {
    const first = timeIn(since);
    const names = (await this.#names()).filter((name) => name >= first && !seen.has(name));
    for (const name of names) seen.add(name);
    return await this.#readAll(names);
  }

  async find(id: string): Promise<Checkpoint | null> {
    return await read(join(this.#folder, `${id}.json`));
  }

  async #names(): Promise<readonly string[]> {
    return (await namesIn(this.#folder)).filter((name) => /^[0-9a-z]+-[0-9a-f]+\.json$/.test(name)).sort();
  }

  async #readAll(names: readonly string[]): Promise<readonly Checkpoint[]> {
    const found = await Promise.all(names.map((name) => read(join(this.#folder, name))));
    return found.filter((one) => one !== null);
  }

  /** The newest change comes first, because recovery reverts changes in reverse order. */
  async abandoned(): Promise<readonly Checkpoint[]> {
    const names = (await namesIn(this.#folder)).filter((name) => name.endsWith(".pending")).sort().reverse();
    return await this.#readAll(names.filter((name) => !this.#isBeingMade(name)));
  }

  async prune(now = Date.now()): Promise<void> {
    const oldest = now - this.#limits.days * DAY_MS;
    let bytes = 0;
    const counted = new Set<string>();
    for (const [at, checkpoint] of (await this.list()).toReversed().entries()) {
      for (const { before } of checkpoint.items) {
        if (before?.kind !== "file" || counted.has(before.hash)) continue;
        counted.add(before.hash);
        bytes += before.size;
      }
      const fits = checkpoint.at >= oldest && at < this.#limits.changes && bytes <= this.#limits.bytes;
      if (!fits) await Deno.remove(join(this.#folder, `${checkpoint.id}.json`)).catch(() => {});
    }
    await this.#sweepObjects(now);
    for (const name of await namesIn(this.#all)) {
      const { mtime } = await Deno.stat(join(this.#all, name)).catch(() => ({ mtime: null }));
      const isOld = mtime !== null && mtime.getTime() < oldest && join(this.#all, name) !== this.#folder;
      if (isOld) await Deno.remove(join(this.#all, name), { recursive: true }).catch(() => {});
    }
    await Deno.writeTextFile(join(this.#folder, STAMP), "").catch(() => {});
  }

  async #pruneSometimes(): Promise<void> {
    if (this.#added++ % PRUNE_EVERY !== 0) return;
    const { mtime } = await Deno.stat(join(this.#folder, STAMP)).catch(() => ({ mtime: null }));
    if (this.#added > 1 || mtime === null || Date.now() - mtime.getTime() > PRUNE_MS) await this.prune();
  }

  async #sweepObjects(now: number): Promise<void> {
    const named = new Set<string>();
    const pending = (await namesIn(this.#folder)).filter((name) => name.endsWith(".pending"));
    const half = await Promise.all(pending.map((name) => read(join(this.#folder, name))));
    for (const checkpoint of [...await this.list(), ...half]) {
      for (const { before } of checkpoint?.items ?? []) if (before?.kind === "file") named.add(before.hash);
    }
    const folder = join(this.#folder, "objects");
    for (const name of await namesIn(folder)) {
      if (named.has(name)) continue;
      const { mtime } = await Deno.stat(join(folder, name)).catch(() => ({ mtime: null }));
      if (mtime !== null && now - mtime.getTime() > YOUNG_MS) await Deno.remove(join(folder, name)).catch(() => {});
    }
  }

  /** Without `Kernel`, Vis cannot test the lock, so a change that is younger than `YOUNG_MS` counts as running. */
  #isBeingMade(name: string): boolean {
    const path = join(this.#folder, name);
    try {
      return Kernel.shared()?.isLocked(path) ?? Date.now() - (Deno.statSync(path).mtime?.getTime() ?? 0) < YOUNG_MS;
    } catch {
      return true;
    }
  }

  #unlock(id: string): void {
    this.#locked.get(id)?.close();
    this.#locked.delete(id);
  }

  #object(hash: string): string {
    return join(this.#folder, "objects", hash);
  }

  #pending(id: string): string {
    return join(this.#folder, `${id}.pending`);
  }
}

function timeIn(ms: number): string {
  return ms.toString(36).padStart(9, "0");
}

function encode(checkpoint: Checkpoint): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(JSON.stringify(checkpoint));
}

async function read(path: string): Promise<Checkpoint | null> {
  try {
    return JSON.parse(await Deno.readTextFile(path));
  } catch {
    return null;
  }
}

/** A reader sees the whole file or no file. The caller closes the file, which ends its lock. */
async function writeWhole(path: string, bytes: Uint8Array<ArrayBuffer>): Promise<Deno.FsFile> {
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  const file = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
  try {
    await file.lock(true).catch(() => {});
    for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
    await Deno.rename(temporary, path);
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  } catch {
    return [];
  }
}

export interface FileSnapshot extends NewFile {
  readonly kind: "file";
}

export type PathSnapshot =
  | FileSnapshot
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "dir"; readonly mode: number | null }
  | null;

export type State =
  | {
    readonly kind: "file";
    readonly hash: string;
    readonly size: number;
    readonly mode: number | null;
    readonly attributes?: Attributes;
  }
  | { readonly kind: "link"; readonly target: string }
  | { readonly kind: "dir"; readonly mode: number | null }
  | null;

/** `content` distinguishes contents of which Vis has no copy, such as those of a large file. */
export function lostState({ content, mode }: { readonly content: string; readonly mode: number }): State {
  return { kind: "file", hash: `?${content}`, size: 0, mode };
}

export function isLostState(state: State): boolean {
  return state?.kind === "file" && state.hash.startsWith("?");
}

export const NO_COPY = "had contents of which Vis kept no copy";

export class LostContents extends Error {
  override readonly name = "LostContents";
}

export interface ChangeItem {
  readonly path: string;
  readonly before: PathSnapshot;
  readonly after: PathSnapshot;
  readonly seen?: Facts | null;
  readonly from?: string | undefined;
}

export async function stateOf(snapshot: PathSnapshot): Promise<State> {
  if (snapshot === null) return null;
  if (snapshot.kind === "link") return { kind: "link", target: snapshot.target };
  if (snapshot.kind === "dir") return { kind: "dir", mode: snapshot.mode };
  const { bytes, mode, attributes } = snapshot;
  const state = { kind: "file", hash: await sha256Of(bytes), size: bytes.length, mode } as const;
  return attributes ? { ...state, attributes } : state;
}

export function isSameState(a: State, b: State): boolean {
  if (a === null || b === null) return a === b;
  if (a.kind === "file" && b.kind === "file") return a.hash === b.hash;
  if (a.kind === "link" && b.kind === "link") return a.target === b.target;
  return a.kind === "dir" && b.kind === "dir";
}

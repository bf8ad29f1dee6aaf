import { BoundedMap, type EnvironmentView } from "@vis/extension";
import type { ChangeItem, Checkpoint, Checkpoints } from "./checkpoints.ts";
import type { FolderGuard } from "./confine.ts";
import type { Tree } from "./tree/tree.ts";

export interface FsContext {
  readonly root: string;
  readonly tree: Tree;
  /** Whether all of the repository around the workspace may be changed. */
  readonly isOpen?: boolean;
  readonly conversationId: string;
  readonly ledger: ReadLedger;
  readonly guard: FolderGuard;
  /** The checkpoints; null if no folder exists to store them in. */
  readonly checkpoints: Checkpoints | null;
  /** The conversation, query and iteration to which a change belongs. */
  readonly source: Pick<Checkpoint, "conversationId" | "queryId" | "iterationId">;
  readonly note: (text: string) => void;
  readonly sourceFault: EnvironmentView["sourceFault"];
  readonly secrets: readonly string[];
  /** Asks the user; undefined if no user can be asked. */
  readonly approve: EnvironmentView["approve"];
  /** Finds the paths that git or Vis later run or read as settings. */
  readonly obeyedPaths: EnvironmentView["obeyedPaths"];
  /** Reports a changed file to the query; undefined outside of a call. */
  readonly changedFile: EnvironmentView["changedFile"];
  /** Reports a file that is read to extensions; undefined outside of a call. */
  readonly fileRead?: EnvironmentView["fileRead"];
  readonly accepted: (items: readonly ChangeItem[]) => void;
  readonly signal: AbortSignal | undefined;
}

/** The state of a file when this conversation last read or wrote it. */
interface Seen {
  readonly mtime: number;
  readonly size: number;
  /** The SHA-256 of the bytes; null if only part was read. */
  readonly hash: Promise<string> | null;
  /** Whether the text has other characters for some of the file's bytes, so that writing it back would lose data. */
  readonly lossy: boolean;
  /** The encoding of the text that was read; null if no text was read. */
  readonly encoding: string | null;
}

interface Known extends Seen {
  /** The SHA-256 of other states that the conversation knows, newest first. Its own changes replaced some of them, and
   * an undo restores them. Its commands left the others. An edit names the text that it replaces, so it needs no other
   * reading. */
  readonly others: readonly Promise<string>[];
}

const MAX_CONVERSATIONS = 64;
const MAX_FILES = 5_000;
/** The limit for the remembered states of a file. */
const MAX_OTHERS = 50;

/** Remembers the state of each file that the model of a conversation knows. The oldest entries are dropped, and changes
 * to those files then pass without notice. */
export class ReadLedger {
  readonly #seen = new BoundedMap<string, BoundedMap<string, Known>>(MAX_CONVERSATIONS);

  remember(conversationId: string, path: string, seen: Seen): void {
    const { others = [] } = this.find(conversationId, path) ?? {};
    this.#put(conversationId, path, { ...seen, others });
  }

  /** Records another state of a known file. */
  alsoKnown(conversationId: string, path: string, hash: Promise<string>): void {
    const known = this.find(conversationId, path);
    if (known) this.#put(conversationId, path, { ...known, others: [hash, ...known.others] });
  }

  find(conversationId: string, path: string): Known | null {
    return this.#seen.get(conversationId)?.get(path) ?? null;
  }

  #put(conversationId: string, path: string, { others, ...seen }: Known): void {
    const files = this.#seen.get(conversationId) ?? new BoundedMap<string, Known>(MAX_FILES);
    this.#seen.set(conversationId, files.set(path, { ...seen, others: others.slice(0, MAX_OTHERS) }));
  }
}

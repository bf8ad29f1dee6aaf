import { BoundedMap, type EnvironmentView } from "@vis/extension";
import type { ChangeItem, Checkpoint, Checkpoints } from "./checkpoints.ts";
import type { FolderGuard } from "./confine.ts";
import type { Tree } from "./tree/tree.ts";

/** Every function of `fs` receives this context. */
export interface FsContext {
  /** Real path of the workspace. */
  readonly root: string;
  readonly tree: Tree;
  /** Whether all of the repository around the workspace may be changed. */
  readonly isOpen?: boolean;
  readonly conversationId: string;
  readonly ledger: ReadLedger;
  readonly guard: FolderGuard;
  /** Null if there is no folder to store them in. */
  readonly checkpoints: Checkpoints | null;
  /** A change belongs to this conversation, query and iteration. */
  readonly source: Pick<Checkpoint, "conversationId" | "queryId" | "iterationId">;
  /** Tells the model something besides the result. */
  readonly note: (text: string) => void;
  readonly sourceFault: EnvironmentView["sourceFault"];
  /** Patterns of files that may hold keys. */
  readonly secrets: readonly string[];
  /** Asks the user; undefined where that is not possible. */
  readonly approve: EnvironmentView["approve"];
  /** Finds the paths that git or Vis later run or read as settings. */
  readonly obeyedPaths: EnvironmentView["obeyedPaths"];
  /** Tells the query of a changed file; undefined outside a call. */
  readonly changedFile: EnvironmentView["changedFile"];
  /** Tells extensions of a file that is read; undefined outside a call. */
  readonly fileRead?: EnvironmentView["fileRead"];
  /** Called with what `fs` has changed. */
  readonly accepted: (items: readonly ChangeItem[]) => void;
  readonly signal: AbortSignal | undefined;
}

/** The state of a file when this conversation last read or wrote it. */
interface Seen {
  readonly mtime: number;
  readonly size: number;
  /** SHA-256 of the bytes; null if only part was read. */
  readonly hash: Promise<string> | null;
  /** SHA-256 after a command of the conversation has changed it since: an edit need not read it again. */
  readonly ownHash?: Promise<string>;
  /** True if the text has other characters for some of the file's bytes, so that writing it back would lose data. */
  readonly lossy: boolean;
  /** The text was read in this encoding; null if no text was read. */
  readonly encoding: string | null;
}

const MAX_CONVERSATIONS = 64;
const MAX_FILES = 5_000;

/** Remembers the state of each file that the model of a conversation knows. The oldest entries are dropped: then
 * changes to those files are not noticed. */
export class ReadLedger {
  readonly #seen = new BoundedMap<string, BoundedMap<string, Seen>>(MAX_CONVERSATIONS);

  remember(conversationId: string, path: string, seen: Seen): void {
    const files = this.#seen.get(conversationId) ?? new BoundedMap<string, Seen>(MAX_FILES);
    this.#seen.set(conversationId, files.set(path, seen));
  }

  find(conversationId: string, path: string): Seen | null {
    return this.#seen.get(conversationId)?.get(path) ?? null;
  }
}

import { BoundedMap, type EnvironmentView } from "@vis/extension";
import type { ChangeItem, Checkpoint, Checkpoints } from "./checkpoints.ts";
import type { FolderGuard } from "./confine.ts";
import type { Tree } from "./tree/tree.ts";

/** The context that every function of `fs` receives. */
export interface FsContext {
  /** The real path of the workspace. */
  readonly root: string;
  readonly tree: Tree;
  /** Whether all of the repository around the workspace may be changed. */
  readonly isOpen?: boolean;
  readonly conversationId: string;
  readonly ledger: ReadLedger;
  readonly guard: FolderGuard;
  /** The checkpoints; null if there is no folder to store them in. */
  readonly checkpoints: Checkpoints | null;
  /** The conversation, query and iteration to which a change belongs. */
  readonly source: Pick<Checkpoint, "conversationId" | "queryId" | "iterationId">;
  /** Adds a note for the model besides the result. */
  readonly note: (text: string) => void;
  readonly sourceFault: EnvironmentView["sourceFault"];
  /** Patterns of files that may hold keys. */
  readonly secrets: readonly string[];
  /** Asks the user; undefined if that is not possible. */
  readonly approve: EnvironmentView["approve"];
  /** Finds the paths that git or Vis later run or read as settings. */
  readonly obeyedPaths: EnvironmentView["obeyedPaths"];
  /** Reports a changed file to the query; undefined outside of a call. */
  readonly changedFile: EnvironmentView["changedFile"];
  /** Reports a file that is read to extensions; undefined outside of a call. */
  readonly fileRead?: EnvironmentView["fileRead"];
  /** Called with the items that `fs` has changed. */
  readonly accepted: (items: readonly ChangeItem[]) => void;
  readonly signal: AbortSignal | undefined;
}

/** The state of a file when this conversation last read or wrote it. */
interface Seen {
  readonly mtime: number;
  readonly size: number;
  /** The SHA-256 of the bytes; null if only part was read. */
  readonly hash: Promise<string> | null;
  /** The SHA-256 after a command of the conversation has changed it since: an edit need not read it again. */
  readonly ownHash?: Promise<string>;
  /** Whether the text has other characters for some of the file's bytes, so that writing it back would lose data. */
  readonly lossy: boolean;
  /** The encoding of the text that was read; null if none was. */
  readonly encoding: string | null;
}

const MAX_CONVERSATIONS = 64;
const MAX_FILES = 5_000;

/** Remembers the state of each file that the model of a conversation knows. The oldest entries are dropped; changes to
 * those files are then not noticed. */
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

import { BoundedMap, type EnvironmentView } from "@vis/extension";
import type { ChangeItem, Checkpoint, Checkpoints } from "./checkpoints.ts";
import type { FolderGuard } from "./confine.ts";
import type { Tree } from "./tree/tree.ts";

export interface FsContext {
  readonly root: string;
  readonly tree: Tree;
  readonly isOpen?: boolean;
  readonly conversationId: string;
  readonly ledger: ReadLedger;
  readonly guard: FolderGuard;
  readonly checkpoints: Checkpoints | null;
  readonly source: Pick<Checkpoint, "conversationId" | "queryId" | "iterationId">;
  readonly note: (text: string) => void;
  readonly sourceFault: EnvironmentView["sourceFault"];
  readonly secrets: readonly string[];
  readonly approve: EnvironmentView["approve"];
  /** The secret files that a change has read and not yet asked about, by their real path. Until the user has answered,
   * the model gets no result and no error of the change. Absent in calls that change nothing. */
  readonly unasked?: Map<string, SecretFile>;
  readonly obeyedPaths: EnvironmentView["obeyedPaths"];
  readonly changedFile: EnvironmentView["changedFile"];
  readonly fileRead?: EnvironmentView["fileRead"];
  readonly accepted: (items: readonly ChangeItem[]) => void;
  readonly signal: AbortSignal | undefined;
}

export interface SecretFile {
  readonly place: { readonly path: string; readonly real: string };
  readonly action: string;
}

interface Seen {
  readonly mtime: number;
  readonly size: number;
  readonly hash: Promise<string> | null;
  /** Whether the text has other characters for some of the file's bytes, so that writing it back would lose data. */
  readonly lossy: boolean;
  readonly encoding: string | null;
  /** Whether the conversation wrote the whole text, which therefore reveals nothing to it. */
  readonly isOwn: boolean;
}

interface Known extends Seen {
  /** The SHA-256 of other states that the conversation knows, newest first. Some states are from before the
   * conversation's own changes, and an undo restores them; commands left the other states. An edit names the text that
   * it replaces, so the edit needs no other reading. */
  readonly others: readonly Promise<string>[];
}

const MAX_CONVERSATIONS = 64;
const MAX_FILES = 5_000;
const MAX_OTHERS = 50;

/** Remembers the state of each file that the model of a conversation knows. The oldest entries are dropped, and changes
 * to those files then pass without notice. */
export class ReadLedger {
  readonly #seen = new BoundedMap<string, BoundedMap<string, Known>>(MAX_CONVERSATIONS);

  remember(conversationId: string, path: string, seen: Seen): void {
    const { others = [] } = this.find(conversationId, path) ?? {};
    this.#put(conversationId, path, { ...seen, others });
  }

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

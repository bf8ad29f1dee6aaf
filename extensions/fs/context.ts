import { BoundedMap, type EnvironmentView } from "@vis/extension";
import type { ChangeItem, Checkpoint, Checkpoints } from "./checkpoints.ts";
import type { FolderGuard } from "./confine.ts";
import type { Tree } from "./tree/tree.ts";

export interface FsContext {
  readonly root: string;
  readonly tree: Tree;
  readonly allowed?: ReadonlyMap<string, string>;
  /** Functions may read these folders beside the workspace, and change them after a question; the paths are real. If
   * absent, the user cannot add folders, so an error names no option. */
  readonly readFolders?: readonly string[];
  readonly conversationId: string;
  readonly ledger: ReadLedger;
  readonly guard: FolderGuard;
  readonly checkpoints: Checkpoints | null;
  readonly source: Pick<Checkpoint, "conversationId" | "queryId" | "iterationId">;
  readonly note: (text: string) => void;
  readonly sourceFault: EnvironmentView["sourceFault"];
  readonly secrets: readonly string[];
  /** Null means that Vis has no folder of its own. */
  readonly home: string | null;
  readonly approve: EnvironmentView["approve"];
  readonly spawn: EnvironmentView["spawn"];
  /** A change reads secret files first, because the question to the user shows the change. */
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
  readonly isChange?: boolean;
  /** The model sees the text. Without `isChange`, this holds by default. */
  readonly isRead?: boolean;
}

interface Seen {
  readonly mtime: number;
  readonly size: number;
  readonly hash: Promise<string> | null;
  readonly lossy: boolean;
  readonly encoding: string | null;
  readonly isOwn: boolean;
}

interface Known extends Seen {
  readonly others: readonly Promise<string>[];
}

const MAX_CONVERSATIONS = 64;
const MAX_FILES = 5_000;
const MAX_OTHERS = 50;

/** Above its limits, the ledger drops the oldest entries, and Vis does not notice changes of their files. */
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

  /** An earlier file at `to` no longer counts. */
  moved(conversationId: string, { from, to }: { readonly from: string; readonly to: string }): void {
    const known = this.find(conversationId, from);
    if (known) this.#put(conversationId, to, known);
    else this.#seen.get(conversationId)?.delete(to);
  }

  find(conversationId: string, path: string): Known | null {
    return this.#seen.get(conversationId)?.get(path) ?? null;
  }

  #put(conversationId: string, path: string, { others, ...seen }: Known): void {
    const files = this.#seen.get(conversationId) ?? new BoundedMap<string, Known>(MAX_FILES);
    this.#seen.set(conversationId, files.set(path, { ...seen, others: others.slice(0, MAX_OTHERS) }));
  }
}

import { BoundedMap, type EnvironmentView, Semaphore } from "@vis/extension";
import { recover } from "./change/change_files.ts";
import { Checkpoints } from "./checkpoints.ts";
import { FolderGuard } from "./confine.ts";
import { type FsContext, ReadLedger } from "./context.ts";
import { treeOf } from "./tree/path_tree.ts";
import type { Tree } from "./tree/tree.ts";

interface Known {
  readonly tree: Tree;
  readonly checkpoints: Checkpoints | null;
  /** Queue of changes. */
  readonly queue: Semaphore;
  /** Reverts what an earlier process left half done, before anything else. */
  readonly ready: Promise<unknown>;
}

type View = Pick<
  EnvironmentView,
  | "workspace"
  | "home"
  | "conversationId"
  | "currentIterationId"
  | "userQueryId"
  | "signal"
  | "note"
  | "sourceFault"
  | "secrets"
  | "approve"
  | "obeyedPaths"
>;

const MAX_PLACES = 64;

/** What `fs` keeps while the process runs: workspaces, and what conversations have read. */
export class FsPlaces {
  readonly #ledger = new ReadLedger();
  readonly #guard = new FolderGuard();
  readonly #known = new BoundedMap<string, Known>(MAX_PLACES);

  /** Recovers the workspace first, if that has not happened yet. */
  async of(env: View): Promise<FsContext> {
    const { workspace: root, conversationId, signal } = env;
    signal?.throwIfAborted();
    const { tree, checkpoints, ready } = this.#place(root, env.home ?? null);
    await ready;
    const { currentIterationId: iterationId = null, userQueryId: queryId = null } = env;
    const source = { conversationId, queryId, iterationId };
    const { note = () => {}, sourceFault, secrets = [], approve, obeyedPaths } = env;
    const kept = { tree, checkpoints, ledger: this.#ledger, guard: this.#guard };
    return { ...kept, root, conversationId, source, signal, note, sourceFault, secrets, approve, obeyedPaths };
  }

  /** Changes files; such calls run one at a time per workspace. */
  async change<Result>(env: View, make: (context: FsContext) => Promise<Result>): Promise<Result> {
    const context = await this.of(env);
    return await this.#place(env.workspace, env.home ?? null).queue.run(() => make(context));
  }

  #place(root: string, home: string | null): Known {
    const key = `${root}\0${home ?? ""}`;
    const known = this.#known.get(key);
    if (known) return known;
    const tree = treeOf(root);
    const checkpoints = home === null ? null : new Checkpoints(home, { workspace: root });
    this.#guard.note(tree);
    const place = {
      tree,
      checkpoints,
      queue: new Semaphore(),
      ready: recover({ tree, checkpoints, guard: this.#guard }),
    };
    this.#known.set(key, place);
    return place;
  }
}

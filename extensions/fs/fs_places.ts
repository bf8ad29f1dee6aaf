import { BoundedMap, type EnvironmentView, type FileWatcher, Semaphore } from "@vis/extension";
import { recover } from "./change/change_files.ts";
import { type ChangeItem, Checkpoints } from "./checkpoints.ts";
import { FolderGuard } from "./confine.ts";
import { type FsContext, ReadLedger } from "./context.ts";
import { treeOf } from "./tree/path_tree.ts";
import type { Tree } from "./tree/tree.ts";
import { FileWatch } from "./watch/file_watch.ts";

interface Known {
  readonly tree: Tree;
  readonly checkpoints: Checkpoints | null;
  /** Queue of changes. */
  readonly queue: Semaphore;
  /** Reverts what an earlier process left half done, before anything else. */
  readonly ready: Promise<unknown>;
  readonly watch: FileWatch;
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
  | "changedFile"
>;

const MAX_PLACES = 64;

/** What `fs` keeps while the process runs: workspaces, and what conversations have read. */
export class FsPlaces {
  readonly #ledger = new ReadLedger();
  readonly #guard = new FolderGuard();
  readonly #known = new BoundedMap<string, Known>(MAX_PLACES);

  /** Recovers the workspace first, if that has not happened yet. */
  async of(env: View): Promise<FsContext> {
    env.signal?.throwIfAborted();
    return await this.#context(env, env.signal);
  }

  async #context(env: View, signal: AbortSignal | undefined): Promise<FsContext> {
    const { workspace: root, conversationId } = env;
    const { tree, checkpoints, ready, watch } = this.#place(root, env.home ?? null);
    await ready;
    const { currentIterationId: iterationId = null, userQueryId: queryId = null } = env;
    const source = { conversationId, queryId, iterationId };
    const { note = () => {}, sourceFault, secrets = [], approve, obeyedPaths, changedFile } = env;
    const kept = { tree, checkpoints, ledger: this.#ledger, guard: this.#guard };
    const accepted = (items: readonly ChangeItem[]): void => watch.accept(items);
    const asked = { note, sourceFault, secrets, approve, obeyedPaths, changedFile, accepted };
    return { ...kept, root, conversationId, source, signal, ...asked };
  }

  /** Changes files; such calls run one at a time per workspace. */
  async change<Result>(env: View, make: (context: FsContext) => Promise<Result>): Promise<Result> {
    const context = await this.of(env);
    return await this.#place(env.workspace, env.home ?? null).queue.run(() => make(context));
  }

  /** Watches what programs change, for one call. Looks and changes of `fs` come one at a time. */
  watch(env: View & Pick<EnvironmentView, "spawn" | "root">): FileWatcher {
    const { queue, watch } = this.#place(env.workspace, env.home ?? null);
    // What a command changed is told even if its call was abandoned.
    const context = (): Promise<FsContext> => this.#context(env, undefined);
    return {
      begin: async () => {
        await queue.run(async () => watch.begin(await context(), env));
        return () => watch.ended();
      },
      report: () => queue.run(async () => watch.report(await context(), env.spawn)),
    };
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
      watch: new FileWatch(root, tree),
    };
    this.#known.set(key, place);
    return place;
  }
}

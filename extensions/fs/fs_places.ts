import { homedir } from "node:os";
import { join, relative, sep } from "node:path";
import {
  BoundedMap,
  type EnvironmentView,
  type FileWatcher,
  Semaphore,
  someOf,
  type WatchOptions,
} from "@vis/extension";
import { recover } from "./change/change_files.ts";
import { undoneByUser } from "./change/undo_changes.ts";
import { type ChangeItem, Checkpoints } from "./checkpoints.ts";
import { below, FolderGuard, OutsideWorkspace } from "./confine.ts";
import { type FsContext, ReadLedger, type SecretFile } from "./context.ts";
import { askForError } from "./read/read_place.ts";
import { Kernel } from "./tree/kernel.ts";
import { KernelTree } from "./tree/kernel_tree.ts";
import { PathTree } from "./tree/path_tree.ts";
import { type Tree, TreeWithAdded } from "./tree/tree.ts";
import type { CommandChanges } from "./command_changes/command_changes.ts";

interface Known {
  /** The tree serves no added folder. */
  readonly tree: Tree;
  readonly checkpoints: Checkpoints | null;
  readonly queue: Semaphore;
  readonly ready: Promise<unknown>;
  watch: CommandChanges | null;
  wide: CommandChanges | null;
}

type View = Pick<
  EnvironmentView,
  | "workspace"
  | "root"
  | "openRoot"
  | "readFolders"
  | "home"
  | "conversationId"
  | "currentIterationId"
  | "userQueryId"
  | "signal"
  | "note"
  | "sourceFault"
  | "secrets"
  | "approve"
  | "spawn"
  | "obeyedPaths"
  | "changedFile"
  | "fileRead"
>;

const MAX_PLACES = 64, MAX_NAMED = 20;

export class FsPlaces {
  readonly #ledger = new ReadLedger();
  readonly #guard = new FolderGuard();
  readonly #known = new BoundedMap<string, Known>(MAX_PLACES);

  async of(env: View): Promise<FsContext> {
    env.signal?.throwIfAborted();
    return await this.#context(env, env.signal);
  }

  async #context(env: View, signal: AbortSignal | undefined): Promise<FsContext> {
    const { workspace: root, readFolders, conversationId } = env;
    const place = this.#place(env), { checkpoints, ready } = place;
    await ready;
    const tree = withAdded(place.tree, readFolders);
    const { currentIterationId: iterationId = null, userQueryId: queryId = null } = env;
    const source = { conversationId, queryId, iterationId };
    const { note = () => {}, sourceFault, secrets = [], approve, spawn, obeyedPaths, changedFile, fileRead } = env;
    const kept = { tree, checkpoints, ledger: this.#ledger, guard: this.#guard };
    const accepted = (items: readonly ChangeItem[]): void => {
      for (const watch of [place.watch, place.wide]) watch?.accept(items);
    };
    const asked = {
      note,
      sourceFault,
      secrets,
      home: env.home ?? null,
      approve,
      spawn,
      obeyedPaths,
      changedFile,
      accepted,
      ...(fileRead ? { fileRead } : {}),
      ...(readFolders ? { readFolders: readFolders.map((path) => path.replaceAll(sep, "/")) } : {}),
    };
    return { ...kept, root, conversationId, source, signal, ...asked };
  }

  /** An attempt finds changes outside of the workspace that the user must allow. Then `make` runs again, and can find
   * other changes, for example because a folder has become a link, or because a file changed. */
  async change<Result>(env: View, make: (context: FsContext) => Promise<Result>): Promise<Result> {
    const context = await this.of(env), { queue } = this.#place(env), allowed = new Map<string, string>();
    for (;;) {
      try {
        const result = await queue.run(() => askedFor({ ...context, allowed }, make));
        for (const diff of diffsOf(result)) env.changedFile?.(diff);
        return result;
      } catch (error) {
        if (!(error instanceof OutsideWorkspace)) throw error;
        await askToChange(env, error);
        for (const [path, change] of error.changes) allowed.set(path, change);
      }
    }
  }

  watch(
    env: View,
    { all = false, isHook = false, isBackground = false, commits = false }: WatchOptions = {},
  ): FileWatcher {
    const place = this.#place(env), { queue, tree } = place, kind = all ? "wide" : "watch";
    const context = (): Promise<FsContext> => this.#context(env, undefined);
    const seen = new Set<string>();
    let began: number | undefined;
    return {
      begin: async () => {
        if (commits) began = Date.now();
        const watch = await queue.run(async () => {
          const { CommandChanges } = await import("./command_changes/command_changes.ts");
          const watch = place[kind] ??= new CommandChanges(env.workspace, tree, { all });
          await watch.begin(await context(), env, { isBackground });
          return watch;
        });
        return () => watch.ended({ isBackground });
      },
      report: (only) =>
        queue.run(async () => await place[kind]?.report(await context(), env.spawn, { isHook, only, began }) ?? null),
      undone: async (since) => await undoneByUser(await context(), { seen, since }),
    };
  }

  /** Calls with other added folders share the queue, such as an undo by the user. */
  #place({ workspace: root, root: top = root, home = null }: View): Known {
    const key = [root, top, home].join("\0");
    const known = this.#known.get(key);
    if (known) return known;
    const tree = treeOf(root, top), treeWith = (added: readonly string[]): Tree => withAdded(tree, added);
    const checkpoints = home === null ? null : new Checkpoints(home, { workspace: root });
    this.#guard.note(tree);
    const place = {
      tree,
      checkpoints,
      queue: new Semaphore(),
      ready: recover({ treeWith, checkpoints, guard: this.#guard }),
      watch: null,
      wide: null,
    };
    this.#known.set(key, place);
    return place;
  }
}

function diffsOf(result: unknown): readonly string[] {
  return (Array.isArray(result) ? result : [result]).flatMap((one: unknown) => {
    const diff: unknown = Object(one).diff;
    return typeof diff === "string" && diff !== "" ? [diff] : [];
  });
}

/** `root` and `top` must be real paths. */
export function treeOf(root: string, top = root): Tree {
  const kernel = Kernel.shared(), below = relative(top, root).replaceAll(sep, "/");
  return kernel ? new KernelTree(kernel, top, { below }) : new PathTree(top, { below });
}

function withAdded(tree: Tree, folders: readonly string[] = []): Tree {
  return folders.length === 0 ? tree : new TreeWithAdded(tree, folders.map(addedTree));
}

export function addedTree(folder: string): Tree {
  const kernel = Kernel.shared();
  return kernel ? new KernelTree(kernel, folder, { isAdded: true }) : new PathTree(folder, { isAdded: true });
}

async function askedFor<Result>(given: FsContext, make: (context: FsContext) => Promise<Result>): Promise<Result> {
  const context = { ...given, unasked: new Map<string, SecretFile>() };
  try {
    return await make(context);
  } catch (error) {
    context.signal?.throwIfAborted();
    if (!(error instanceof OutsideWorkspace)) await askForError(context);
    throw error;
  }
}

/** Outside of a conversation, the user makes the call. */
async function askToChange(
  { openRoot, approve, root, conversationId }: Pick<View, "openRoot" | "approve" | "root" | "conversationId">,
  { changes, folder, message, shown }: OutsideWorkspace,
): Promise<void> {
  if (conversationId === "") return;
  const paths = [...changes.keys()];
  const isAround = folder === "", change = shown === "" ? {} : { change: shown };
  const named = someOf(isAround ? paths : paths.map((path) => below(folder, path)), MAX_NAMED);
  const what = `change ${named} in ${
    isAround ? `${root}, the repository around the workspace` : `${folder}, an added folder`
  }`;
  const { allowed = false, reason = "no user can answer here" } =
    await (isAround
      ? openRoot?.(what, change)
      : approve?.({ what, ...change, ...lastingFor(folder), scope: `changes in the added folder ${folder}` })) ?? {};
  if (allowed) return;
  const way = isAround
    ? "start Vis with --root to allow it"
    : "allow it for this workspace in interactive mode, or start Vis in a folder that contains both folders";
  throw new Error(`${message}, and ${reason}; the user can ${way}`);
}

function lastingFor(folder: string): { readonly why: string; readonly lasting?: boolean } {
  const home = realHome(), [first = ""] = relative(home, folder).split(sep);
  if (first === ".." || !first.startsWith(".")) return { why: "" };
  return {
    why: `Vis asks every time, because ${join(home, first)} may have your settings or keys.`,
    lasting: false,
  };
}

function realHome(): string {
  try {
    return Deno.realPathSync(homedir());
  } catch {
    return homedir();
  }
}

import { GuardedFiles } from "./_guarded_files.ts";

/** Time between two checks for changes by long commands. */
const LOOK_MS = 1_000;
/** Checks take at most one part in this many of the time. */
const SHARE = 50;

interface Watch {
  commands: number;
  readonly files: Promise<GuardedFiles>;
  readonly repaired: Set<string>;
  stamp: string | null;
  timer: ReturnType<typeof setTimeout> | undefined;
  looking: Promise<void>;
}

/** Suspends all programs; the returned function resumes them. */
export type Freeze = () => Promise<(() => void) | null>;

/** Guards a workspace while commands run in it: its state before the first command is restored when the last has ended.
 * With long commands it is also restored meanwhile, while all of them are suspended, because a command could redirect
 * the paths of the repair. */
export class FileGuard {
  readonly #watched = new Map<string, Watch>();
  readonly #repairs = new Map<string, Promise<unknown>>();

  /** Call it before a command starts. The returned function is called when the command has ended, any number of times;
   * it resolves with the paths that were restored. */
  async enter(workspace: string, freeze: Freeze): Promise<() => Promise<readonly string[]>> {
    await this.#repairs.get(workspace);
    const watch = this.#watched.get(workspace) ?? this.#begin(workspace, freeze);
    watch.commands++;
    try {
      await watch.files;
    } catch (error) {
      this.#watched.delete(workspace);
      clearTimeout(watch.timer);
      throw error;
    }
    let left: Promise<readonly string[]> | null = null;
    return () => left ??= this.#leave(workspace, watch);
  }

  #begin(workspace: string, freeze: Freeze): Watch {
    const watch: Watch = {
      commands: 0,
      files: GuardedFiles.read(workspace),
      repaired: new Set(),
      stamp: null,
      timer: undefined,
      looking: Promise.resolve(),
    };
    this.#watched.set(workspace, watch);
    this.#lookLater(watch, { freeze, ms: LOOK_MS });
    return watch;
  }

  #lookLater(watch: Watch, { freeze, ms }: { readonly freeze: Freeze; readonly ms: number }): void {
    watch.timer = setTimeout(() => {
      const begun = performance.now();
      // What cannot be checked now is restored at the end.
      watch.looking = look(watch, freeze).catch(() => {}).then(() => {
        const next = Math.max(LOOK_MS, SHARE * (performance.now() - begun));
        if (watch.commands > 0) this.#lookLater(watch, { freeze, ms: next });
      });
    }, ms);
  }

  async #leave(workspace: string, watch: Watch): Promise<readonly string[]> {
    if (--watch.commands > 0) return [];
    this.#watched.delete(workspace);
    clearTimeout(watch.timer);
    const repair = watch.looking.then(async () => (await watch.files).restore());
    this.#repairs.set(workspace, repair.catch(() => {}));
    const last = await repair; // a look may be under way, and adds to what is repaired
    return [...new Set([...watch.repaired, ...last])].sort();
  }
}

async function look(watch: Watch, freeze: Freeze): Promise<void> {
  const files = await watch.files;
  const stamp = await files.stamp();
  if (stamp === watch.stamp) return;
  const thaw = await freeze();
  if (thaw === null) return;
  try {
    for (const path of await files.restore()) watch.repaired.add(path);
    watch.stamp = await files.stamp();
  } finally {
    thaw();
  }
}

import { GuardedFiles } from "./_guarded_files.ts";

/** Between two looks at what long commands may have changed. */
const LOOK_MS = 1_000;
/** Of the time, which looks may take at most. */
const SHARE = 50;

interface Watch {
  commands: number;
  readonly files: Promise<GuardedFiles>;
  readonly repaired: Set<string>;
  stamp: string | null;
  timer: ReturnType<typeof setTimeout> | undefined;
  looking: Promise<void>;
}

/** Makes every program stand still; what it gives lets them go on. */
export type Freeze = () => Promise<(() => void) | null>;

/** Guards a workspace while commands run in it: what it was before the first is put back when the last has ended, and
 * where they go on for long also meanwhile, while all of them stand still: a command could turn the way of the repair. */
export class FileGuard {
  readonly #watched = new Map<string, Watch>();
  readonly #repairs = new Map<string, Promise<unknown>>();

  /** Before a command starts. What it returns is called when the command has ended, any number of times: it resolves
   * with the paths that were put back. */
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
      // What cannot be looked at now is put back at the end.
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
    return [...new Set([...watch.repaired, ...await repair])].sort();
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

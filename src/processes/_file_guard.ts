import { GuardedFiles } from "./_guarded_files.ts";

interface Watch {
  commands: number;
  readonly files: Promise<GuardedFiles>;
}

/** Guards a workspace while commands run in it: what it was before the first is put back when the last has ended, and
 * not earlier, since another command could turn the way of the repair. */
export class FileGuard {
  readonly #watched = new Map<string, Watch>();
  readonly #repairs = new Map<string, Promise<unknown>>();

  /** Before a command starts. What it returns is called when the command has ended, any number of times: it resolves
   * with the paths that were put back. */
  async enter(workspace: string): Promise<() => Promise<readonly string[]>> {
    await this.#repairs.get(workspace);
    const watch = this.#watched.get(workspace) ?? { commands: 0, files: GuardedFiles.read(workspace) };
    this.#watched.set(workspace, watch);
    watch.commands++;
    try {
      await watch.files;
    } catch (error) {
      this.#watched.delete(workspace);
      throw error;
    }
    let left: Promise<readonly string[]> | null = null;
    return () => left ??= this.#leave(workspace, watch);
  }

  async #leave(workspace: string, watch: Watch): Promise<readonly string[]> {
    if (--watch.commands > 0) return [];
    this.#watched.delete(workspace);
    const repair = watch.files.then((files) => files.restore());
    this.#repairs.set(workspace, repair.catch(() => {}));
    return await repair;
  }
}

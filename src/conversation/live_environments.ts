import { Semaphore } from "../domain/kit/semaphore.ts";

/** What is kept for a branch between its queries. */
export interface LiveEnvironment {
  /** Whether its child lives. */
  readonly alive: boolean;
  /** Whether it has what is stored, and nothing else. */
  readonly sound: boolean;
  readonly programs: { readonly running: boolean };
  close(): Promise<void>;
}

export interface LiveEnvironmentsOptions<E extends LiveEnvironment, B> {
  readonly open: (branch: B) => Promise<E>;
  /** Most that are kept, but for those in which something lives or runs. */
  readonly kept: number;
  /** One is closed that was used longest ago, or by `close`. */
  readonly onClose: (branchId: string) => void;
}

/** Which run wants the environment of its branch. */
export interface WantedFor {
  readonly run: string;
  /** The run that was the newest one of the branch before; null for none. */
  readonly after: string | null;
  /** Whether the run begins with what was there before an older run, which it replaces. */
  readonly reopen: boolean;
}

interface Entry<E extends LiveEnvironment> {
  /** Whoever runs a query has it. */
  readonly lock: Semaphore;
  environment: Promise<E> | null;
  /** Null until it is open. */
  opened: E | null;
  /** The run that used it last: it has what was stored up to then. */
  run: string | null;
}

/** The environments of this process, one for each branch that was used: opened on first use, and again on the next one
 * after they were closed or where another process has used the branch since. Nothing that is not stored is lost with one
 * that rests. */
export class LiveEnvironments<E extends LiveEnvironment, B extends { readonly branchId: string }> {
  readonly #options: LiveEnvironmentsOptions<E, B>;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<E>>();

  constructor(options: LiveEnvironmentsOptions<E, B>) {
    this.#options = options;
  }

  /** Who wants to use an environment takes its lock before anything is awaited. */
  lockOf({ branchId }: B): Semaphore {
    return this.#entryOf(branchId).lock;
  }

  isBusy(branchId: string): boolean {
    return (this.#entries.get(branchId)?.lock.open ?? 0) > 0;
  }

  /** The environment of a branch, whose lock the caller has, for a run that is stored as running: as it was left by the
   * run before, or opened again where that run was of another process. */
  async use(branch: B, { run, after, reopen }: WantedFor): Promise<E> {
    const entry = this.#entryOf(branch.branchId);
    const { opened } = entry;
    const isCurrent = opened !== null && opened.sound && after !== null && entry.run === after && !reopen;
    entry.run = run;
    if (isCurrent) return opened;
    entry.opened = null;
    await opened?.close();
    entry.environment = this.#options.open(branch);
    try {
      return entry.opened = await entry.environment;
    } catch (error) {
      entry.environment = null;
      throw error;
    }
  }

  async close(branchId: string): Promise<void> {
    const entry = this.#entries.get(branchId);
    this.#entries.delete(branchId);
    this.#options.onClose(branchId);
    const environment = await entry?.environment?.catch(() => null);
    await environment?.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.close(id)));
  }

  #entryOf(branchId: string): Entry<E> {
    const known = this.#entries.get(branchId);
    const entry = known ?? { lock: new Semaphore(), environment: null, opened: null, run: null };
    if (!known) this.trim(1);
    this.#entries.delete(branchId);
    this.#entries.set(branchId, entry);
    return entry;
  }

  /** Closes those that were used longest ago, down to the number that is kept with so many more. */
  trim(more = 0): void {
    for (const [branchId, { environment, opened, lock }] of this.#entries) {
      if (this.#entries.size + more <= this.#options.kept) return;
      const rests = opened ? !opened.alive && !opened.programs.running : environment === null;
      if (rests && lock.open === 0) void this.close(branchId).catch(() => {});
    }
  }
}

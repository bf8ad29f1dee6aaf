import { Semaphore } from "../domain/kit/concurrency.ts";

/** What is kept for a branch between its queries. */
export interface LiveEnvironment {
  /** Whether its child is running. */
  readonly alive: boolean;
  /** Whether it matches what is stored, without anything else. */
  readonly sound: boolean;
  readonly programs: { readonly running: boolean };
  close(): Promise<void>;
}

export interface LiveEnvironmentsOptions<E extends LiveEnvironment, B> {
  readonly open: (branch: B) => Promise<E>;
  /** Maximum number kept. Those with a running child or query are not closed to reach it. */
  readonly kept: number;
  /** Called when one is closed: the least recently used, or any by `close`. */
  readonly onClose: (branchId: string) => void;
}

/** The run that needs the environment of its branch. */
export interface WantedFor {
  readonly run: string;
  /** The previous newest run of the branch; null for none. */
  readonly after: string | null;
  /** Whether the run starts from the state before an older run, which it replaces. */
  readonly reopen: boolean;
}

interface Entry<E extends LiveEnvironment> {
  /** Held by the caller that runs a query. */
  readonly lock: Semaphore;
  environment: Promise<E> | null;
  /** Null until it is open. */
  opened: E | null;
  /** The run that used it last: it contains what was stored until then. */
  run: string | null;
}

/** The environments of this process, one for each branch that was used. They are opened on first use, and again after
 * they were closed or another process has used the branch. Closing an idle one loses nothing that is stored. */
export class LiveEnvironments<E extends LiveEnvironment, B extends { readonly branchId: string }> {
  readonly #options: LiveEnvironmentsOptions<E, B>;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<E>>();

  constructor(options: LiveEnvironmentsOptions<E, B>) {
    this.#options = options;
  }

  /** Callers take the lock of an environment before awaiting anything. */
  lockOf({ branchId }: B): Semaphore {
    return this.#entryOf(branchId).lock;
  }

  isBusy(branchId: string): boolean {
    return (this.#entries.get(branchId)?.lock.open ?? 0) > 0;
  }

  /** The environment of a branch for a run that is stored as running; the caller holds its lock. It is as the previous
   * run left it, or opened again if that run belonged to another process. */
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

  /** Another process continued the run that used this environment last: the next run opens it again. */
  outdate(branchId: string): void {
    const entry = this.#entries.get(branchId);
    if (entry) entry.run = null;
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

  /** Closes the least recently used ones, down to the maximum, counting `more` additional ones. */
  trim(more = 0): void {
    for (const [branchId, { environment, opened, lock }] of this.#entries) {
      if (this.#entries.size + more <= this.#options.kept) return;
      const rests = opened ? !opened.alive && !opened.programs.running : environment === null;
      if (rests && lock.open === 0) void this.close(branchId).catch(() => {});
    }
  }
}

import { Lock } from "./lock.ts";

/** What is kept for a branch between its queries. */
export interface LiveEnvironment {
  /** Whether its child lives. */
  readonly alive: boolean;
  readonly programs: { readonly running: boolean };
  close(): Promise<void>;
}

export interface Live<E extends LiveEnvironment> {
  readonly environment: Promise<E>;
  /** Whoever runs a query has it. */
  readonly lock: Lock;
}

export interface LiveEnvironmentsOptions<E extends LiveEnvironment, B> {
  readonly open: (branch: B) => Promise<E>;
  /** Most that are kept, but for those in which something lives or runs. */
  readonly kept: number;
  /** One is closed that was used longest ago, or by `close`. */
  readonly onClose: (branchId: string) => void;
}

interface Entry<E extends LiveEnvironment> extends Live<E> {
  /** Null until it is open. */
  opened: E | null;
}

/** The environments of this process, one for each branch that was used: opened on first use, and again on the next one
 * after they were closed. Nothing that is not stored is lost with one that rests. */
export class LiveEnvironments<E extends LiveEnvironment, B extends { readonly branchId: string }> {
  readonly #options: LiveEnvironmentsOptions<E, B>;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<E>>();

  constructor(options: LiveEnvironmentsOptions<E, B>) {
    this.#options = options;
  }

  /** Who wants to use it takes its lock before anything is awaited. */
  of(branch: B): Live<E> {
    const known = this.#entries.get(branch.branchId);
    const live = known ?? this.#make(branch, new Lock());
    this.#entries.delete(branch.branchId);
    this.#entries.set(branch.branchId, live);
    if (!known) this.trim();
    return live;
  }

  isBusy(branchId: string): boolean {
    return this.#entries.get(branchId)?.lock.busy ?? false;
  }

  /** A new one in place of one that its caller has locked and closed. */
  again(branch: B): Promise<E> {
    const live = this.#make(branch, this.#entries.get(branch.branchId)?.lock ?? new Lock());
    this.#entries.set(branch.branchId, live);
    return live.environment;
  }

  async close(branchId: string): Promise<void> {
    const live = this.#entries.get(branchId);
    this.#entries.delete(branchId);
    this.#options.onClose(branchId);
    const environment = await live?.environment.catch(() => null);
    await environment?.close();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#entries.keys()].map((id) => this.close(id)));
  }

  #make(branch: B, lock: Lock): Entry<E> {
    const entry: Entry<E> = { environment: this.#options.open(branch), lock, opened: null };
    const { branchId } = branch;
    entry.environment.then((opened) => entry.opened = opened, () => {
      if (this.#entries.get(branchId) === entry) this.#entries.delete(branchId);
    });
    return entry;
  }

  /** Closes those that were used longest ago, down to the number that is kept. */
  trim(): void {
    for (const [branchId, { opened, lock }] of this.#entries) {
      if (this.#entries.size <= this.#options.kept) return;
      if (opened && !lock.busy && !opened.alive && !opened.programs.running) void this.close(branchId).catch(() => {});
    }
  }
}

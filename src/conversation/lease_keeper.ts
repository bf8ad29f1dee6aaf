const EVERY_MS = 30_000;

/** Renews the leases of this process while queries run, and notifies queries whose lease another process has taken
 * over. */
export class LeaseKeeper {
  readonly #renew: () => Promise<readonly string[]>;
  readonly #everyMs: number;
  /** By branch: called when its lease is gone. */
  readonly #running = new Map<string, () => void>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `renew` returns the branches that this process holds. If it rejects, it is tried again later. */
  constructor(
    renew: () => Promise<readonly string[]>,
    { everyMs = EVERY_MS }: { readonly everyMs?: number } = {},
  ) {
    this.#renew = renew;
    this.#everyMs = everyMs;
  }

  /** A query runs on a branch that this process holds. */
  begin(branchId: string, lost: () => void): void {
    this.#running.set(branchId, lost);
    this.#timer ??= setInterval(() => void this.#beat().catch(() => {}), this.#everyMs);
  }

  end(branchId: string): void {
    this.#running.delete(branchId);
    if (this.#running.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  async #beat(): Promise<void> {
    // Only those of now: queries that begin meanwhile are not checked.
    const watched = [...this.#running];
    const held = new Set(await this.#renew());
    for (const [branchId, lost] of watched) if (!held.has(branchId)) lost();
  }
}

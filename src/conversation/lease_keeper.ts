const EVERY_MS = 30_000;

/** Renews the leases of this process for as long as a query runs, and tells the queries whose lease another process has
 * taken over. */
export class LeaseKeeper {
  readonly #renew: () => Promise<readonly string[]>;
  readonly #everyMs: number;
  /** By branch: what is to be done when its lease is gone. */
  readonly #running = new Map<string, () => void>();
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `renew` gives the branches that this process has. It may reject: another attempt follows. */
  constructor(
    renew: () => Promise<readonly string[]>,
    { everyMs = EVERY_MS }: { readonly everyMs?: number } = {},
  ) {
    this.#renew = renew;
    this.#everyMs = everyMs;
  }

  /** A query runs on a branch that this process has. */
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
    // Those that begin meanwhile are not asked about.
    const watched = [...this.#running];
    const held = new Set(await this.#renew());
    for (const [branchId, lost] of watched) if (!held.has(branchId)) lost();
  }
}

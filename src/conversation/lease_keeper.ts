const EVERY_MS = 30_000;

/** Renews the leases of this process for as long as a query runs. */
export class LeaseKeeper {
  readonly #renew: () => Promise<void>;
  readonly #everyMs: number;
  #running = 0;
  #timer: ReturnType<typeof setInterval> | null = null;

  /** `renew` may reject: another attempt follows. */
  constructor(renew: () => Promise<void>, { everyMs = EVERY_MS }: { readonly everyMs?: number } = {}) {
    this.#renew = renew;
    this.#everyMs = everyMs;
  }

  begin(): void {
    this.#running++;
    this.#timer ??= setInterval(() => void this.#renew().catch(() => {}), this.#everyMs);
  }

  end(): void {
    this.#running--;
    if (this.#running > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

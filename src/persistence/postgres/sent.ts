/** The statements of a transaction that were sent without waiting for them. */
export class Sent {
  readonly #waiting: Promise<unknown>[] = [];
  #failure: { readonly error: unknown } | null = null;

  add(statement: Promise<unknown>): void {
    this.#waiting.push(statement.catch((error: unknown) => {
      this.#failure ??= { error };
    }));
  }

  /** Runs another statement. If one before it failed, it fails for the same reason. */
  async following<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      throw this.#failure ? this.#failure.error : error;
    }
  }

  /** Waits for all of them. Throws the error of the first one that failed. */
  async all(): Promise<void> {
    await Promise.all(this.#waiting);
    if (this.#failure) throw this.#failure.error;
  }
}

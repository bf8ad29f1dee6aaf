/** Data that was read differs from what was stored. The store turns it into a `StoreError` of kind corrupt. */
export class Damage extends Error {
  override readonly name = "Damage";

  /** `what` completes the sentence "the database is damaged: …". */
  constructor(readonly what: string) {
    super(`The database is damaged: ${what}`);
  }
}

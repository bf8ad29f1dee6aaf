/** Something that was read is not what was stored. The store makes it a `StoreError` of kind corrupt. */
export class Damage extends Error {
  override readonly name = "Damage";

  /** `what` ends the sentence "the database is damaged: …". */
  constructor(readonly what: string) {
    super(`The database is damaged: ${what}`);
  }
}

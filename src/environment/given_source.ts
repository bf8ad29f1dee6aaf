/** A text or JSON from outside that becomes a variable. */
export interface GivenSource {
  /** Where it comes from, for the model. */
  readonly label: string;
  readonly json: boolean;
  readonly pieces: AsyncIterable<Uint8Array>;
}

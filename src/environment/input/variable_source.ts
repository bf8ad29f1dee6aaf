/** Text or JSON from outside that becomes a variable. */
export interface VariableSource {
  /** Where it comes from, as shown to the model. */
  readonly label: string;
  readonly json: boolean;
  readonly pieces: AsyncIterable<Uint8Array>;
}

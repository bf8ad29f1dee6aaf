/** Text or JSON from outside that becomes a variable. */
export interface VariableSource {
  /** Where it comes from, as shown to the model. */
  readonly label: string;
  readonly json: boolean;
  /** Of bytes that were made from a text; otherwise they show it. */
  readonly encoding?: "utf-8";
  readonly pieces: AsyncIterable<Uint8Array>;
}

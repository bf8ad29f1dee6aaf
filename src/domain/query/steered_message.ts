/** A message that the user sent while a query ran, as the query's next call showed it to the model. */
export interface SteeredMessage {
  readonly text: string;
  /** The iteration (1-based) whose call showed it. */
  readonly iteration: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Those of one iteration. */
export function steeredInto(messages: readonly SteeredMessage[], iteration: number): readonly SteeredMessage[] {
  return messages.filter((one) => one.iteration === iteration);
}

/** Those of a call that was cut off before its iteration was stored. */
export function steeredAfter(
  messages: readonly SteeredMessage[],
  iterations: readonly { readonly number: number }[],
): readonly SteeredMessage[] {
  const last = iterations.at(-1)?.number ?? 0;
  return messages.filter(({ iteration }) => iteration > last);
}

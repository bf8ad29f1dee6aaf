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

/** Those of a call that was cut off before its iteration was stored: after the last one, or 0. */
export function steeredAfter(messages: readonly SteeredMessage[], last: number): readonly SteeredMessage[] {
  return messages.filter(({ iteration }) => iteration > last);
}

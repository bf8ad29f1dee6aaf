/** A part of the program, which runs alone, is neither source nor executable. */
export type Way = "source" | "compiled" | "part";

export interface Figure {
  readonly what: string;
  readonly way: Way;
  readonly unit: string;
  /** A number that varies has several samples, and an exact number has one. An empty list means that the machine cannot
   * measure the number. */
  readonly samples: readonly number[];
  /** The limit is for the median. Null means that the number is only for comparison. */
  readonly bar: number | null;
  readonly note?: string;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(samples: readonly number[]): Spread | null {
  if (samples.length === 0) return null;
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? NaN;
  const half = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? at(Math.floor(half)) : (at(half - 1) + at(half)) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}

export function isMet({ samples, bar }: Figure): boolean | null {
  const spread = spreadOf(samples);
  return spread === null || bar === null ? null : spread.median <= bar;
}

/** The way of running the program: from its sources, as one executable, or neither (a part measured alone). */
export type Way = "source" | "compiled" | "part";

/** A measured number. Every limit is an upper limit. */
export interface Figure {
  readonly what: string;
  readonly way: Way;
  readonly unit: string;
  /** At least five samples if the number varies, one if it is exact, none if it could not be measured. */
  readonly samples: readonly number[];
  /** The limit for the median; null for a number that is shown for comparison. */
  readonly bar: number | null;
  readonly note?: string;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Returns the middle of the sorted samples. For an even number, returns the mean of the two middle ones. */
export function spreadOf(samples: readonly number[]): Spread | null {
  if (samples.length === 0) return null;
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? NaN;
  const half = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? at(Math.floor(half)) : (at(half - 1) + at(half)) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}

/** Returns null for a figure without a limit or without samples. */
export function isMet({ samples, bar }: Figure): boolean | null {
  const spread = spreadOf(samples);
  return spread === null || bar === null ? null : spread.median <= bar;
}

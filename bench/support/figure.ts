/** How the program was run: from its sources, as one executable, or neither (a part measured by itself). */
export type Way = "source" | "compiled" | "part";

/** One measured number. Every bar is a limit from above. */
export interface Figure {
  readonly what: string;
  readonly way: Way;
  readonly unit: string;
  /** At least five where the number varies; one where it is exact. Empty where it could not be measured. */
  readonly samples: readonly number[];
  /** What the median may be at most; null for a number that is shown for comparison. */
  readonly bar: number | null;
  /** What else a reader must know: how it was taken, or why it is missing. */
  readonly note?: string;
}

export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** The middle of the sorted samples; the mean of the two middle ones for an even number of them. */
export function spreadOf(samples: readonly number[]): Spread | null {
  if (samples.length === 0) return null;
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? NaN;
  const half = sorted.length / 2;
  const median = sorted.length % 2 === 1 ? at(Math.floor(half)) : (at(half - 1) + at(half)) / 2;
  return { median, min: at(0), max: at(sorted.length - 1) };
}

/** Null for a figure without a bar or without samples. */
export function isMet({ samples, bar }: Figure): boolean | null {
  const spread = spreadOf(samples);
  return spread === null || bar === null ? null : spread.median <= bar;
}

const sgr = (on: number, off: number) => (text: string): string => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;

/** Weights instead of colours: they work on any background, and without colours. */
export const paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  italic: sgr(3, 23),
  inverse: sgr(7, 27),
} as const;

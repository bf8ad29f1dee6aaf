const sgr = (on: number, off: number) => (text: string): string => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;

/** Weights in place of colours: they hold on any background, and where no colours are wanted. */
export const paint = {
  bold: sgr(1, 22),
  dim: sgr(2, 22),
  italic: sgr(3, 23),
  inverse: sgr(7, 27),
} as const;

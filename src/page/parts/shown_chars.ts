/** Characters of a text shown at once. */
export const SHOWN_CHARS = 20_000;

/** The end of a text that still grows: the whole is shown once it is complete. */
export function endOfText(text: string): string {
  return text.length > 2 * SHOWN_CHARS ? `… ${text.slice(-SHOWN_CHARS)}` : text;
}

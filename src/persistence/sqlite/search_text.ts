/** A text for a column that is searched and never moved to `content`: lone surrogates and NUL, which such a column cannot
 * give back, stand as U+FFFD. The exact text is then kept in the metadata beside it. */
export function searchText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

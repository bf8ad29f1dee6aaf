/** Text for a column that is searched and never moved to `content`. Lone surrogates and NUL, which such a column cannot
 * return, become U+FFFD; the exact text is then kept in the row's metadata. */
export function searchText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** The start of a text on one line, cut between words if possible, with "…" if something is cut off. */
export function firstWords(text: string, maxChars: number): string {
  // Reads only the part that can be shown, since texts may be very long.
  const line = text.slice(0, maxChars * 4).replace(/\s+/g, " ").trim();
  if (line.length <= maxChars && text.length <= maxChars * 4) return line;
  const cut = line.slice(0, maxChars - 1);
  const space = cut.lastIndexOf(" ");
  return `${space > maxChars / 2 ? cut.slice(0, space) : cut}…`.toWellFormed();
}

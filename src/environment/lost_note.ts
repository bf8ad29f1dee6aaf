const MAX_STATEMENT = 120;

/** What the model is told of a variable that did not come back; `code` is the block that made it, where no statement
 * is known. */
export function lostNote(
  { name, reason, statement }: { readonly name: string; readonly reason: string; readonly statement: string },
  code: string,
): string {
  const made = (statement || code).replace(/\s+/g, " ").slice(0, MAX_STATEMENT);
  return `Variable ${name} could not be restored: ${reason}${made ? `; made by: ${made}` : ""}`;
}

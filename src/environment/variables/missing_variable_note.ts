import type { VariableImage } from "../../domain/query/variable.ts";

const MAX_STATEMENT = 120;

/** The note to the model about a variable that was not restored; `code` is the block that defined it, for when no
 * statement is known. */
export function missingVariableNote(
  { name, reason, statement }: { readonly name: string; readonly reason: string; readonly statement: string },
  code: string,
): string {
  return `Variable ${name} could not be restored: ${reason}${madeBy(statement || code)}`;
}

/** Why a version cannot be made current again. */
export function notRestored({ name, kind, source }: VariableImage, reason: string): string {
  return `Cannot restore ${name}: ${reason}${madeBy(kind === "lost" ? source : "")}`;
}

function madeBy(code: string): string {
  const line = code.replace(/\s+/g, " ").slice(0, MAX_STATEMENT);
  return line ? `; made by: ${line}` : "";
}

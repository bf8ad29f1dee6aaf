import type { BlockError } from "../../../domain/query/query_schemas.ts";
import { positionAt } from "../syntax/position_map.ts";

const MAX_LINE = 200;

/** An error at an offset in the text that the model wrote. */
export function positionError(
  { name, message }: { readonly name: string; readonly message: string },
  { source, offset }: { readonly source: string; readonly offset: number },
): BlockError {
  const { line, column } = positionAt(source, Math.min(offset, source.length));
  return { name, message, line, column, excerpt: excerptOf(source, { line, column }), stack: "" };
}

/** The line with a caret under the column; of a long line, only the part around it. */
function excerptOf(source: string, { line, column }: { readonly line: number; readonly column: number }): string {
  const text = source.split("\n", line)[line - 1]?.replace(/\r$/, "") ?? "";
  const start = Math.max(0, Math.min(column - MAX_LINE / 2, text.length - MAX_LINE));
  const shown = text.slice(start, start + MAX_LINE);
  const indent = shown.slice(0, column - 1 - start).replace(/[^\t]/g, " ");
  return `${shown}\n${indent}^`;
}

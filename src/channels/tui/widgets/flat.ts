import { oneLine, visibleText } from "../../../domain/kit/text.ts";

const MOST = 500;

/** Text from a model, a user or the database as one line, free of control sequences. */
export function flat(text: string, limit = MOST): string {
  return visibleText(oneLine(text.slice(0, limit * 4 + 1), limit).toWellFormed());
}

import { visibleText } from "../../../domain/text/visible_text.ts";

/** Makes text from a model, a server or a file safe for a terminal: control characters are shown as escapes. */
export function terminalText(text: string): string {
  return visibleText(text);
}

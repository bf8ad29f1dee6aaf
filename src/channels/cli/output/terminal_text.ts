import { visibleText } from "../../../domain/text/visible_text.ts";

/** Text from a model, a server or a file as it may reach a terminal: what commands one is shown as its escape. */
export function terminalText(text: string): string {
  return visibleText(text);
}

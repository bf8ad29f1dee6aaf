// C0 without \t and \n, DEL, C1, line separators, and marks that change the direction of text.
// deno-lint-ignore no-control-regex
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes control characters in text from a model, a server or a file, so that it cannot control a terminal or a page.
 * Inside JSON, these escapes still mean the same text. */
export function visibleText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(COMMANDS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// C0 without \t and \n, DEL, C1, line separators, and marks that change the direction of text.
// deno-lint-ignore no-control-regex
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Escapes control characters, so that a text cannot control a terminal. What the user wrote stays as it is otherwise,
 * with the joiners that some scripts need; text of others is shown by `visibleText`. */
export function harmlessText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(COMMANDS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

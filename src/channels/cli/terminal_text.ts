// C0 without \t and \n, DEL, C1, and the marks that turn the direction of text around.
// deno-lint-ignore no-control-regex
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text from a model, a server or a file as it may reach a terminal: what commands one is shown as its escape. */
export function terminalText(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(COMMANDS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
